// SPDX-License-Identifier: Apache-2.0

// The OpenTelemetry Collector with what the tests need of it: OTLP in, a file, OTLP and the log
// out, and metrics of spans (spanmetrics). Its own telemetry is a log on standard error alone:
// otelconftelemetry, which others use, brings the clients of Kubernetes and of three clouds with
// it, half of the compile time.
package main

import (
	"context"
	"log"

	"github.com/open-telemetry/opentelemetry-collector-contrib/connector/spanmetricsconnector"
	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/debugexporter"
	"go.opentelemetry.io/collector/exporter/otlphttpexporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry"
	"go.uber.org/zap"
)

type nothingToConfigure struct{}

func logOnStandardError(_ context.Context, settings telemetry.LoggerSettings,
	_ component.Config) (*zap.Logger, component.ShutdownFunc, error) {
	config := zap.NewProductionConfig()
	config.Encoding = "console"
	config.Sampling = nil
	logger, err := config.Build()
	if settings.BuildZapLogger != nil {
		logger, err = settings.BuildZapLogger(config)
	}
	return logger, func(context.Context) error { return nil }, err
}

func factories() (otelcol.Factories, error) {
	receivers, err := otelcol.MakeFactoryMap[receiver.Factory](otlpreceiver.NewFactory())
	if err != nil {
		return otelcol.Factories{}, err
	}
	connectors, err := otelcol.MakeFactoryMap[connector.Factory](spanmetricsconnector.NewFactory())
	if err != nil {
		return otelcol.Factories{}, err
	}
	exporters, err := otelcol.MakeFactoryMap[exporter.Factory](
		debugexporter.NewFactory(), fileexporter.NewFactory(), otlphttpexporter.NewFactory())
	return otelcol.Factories{
		Receivers:  receivers,
		Connectors: connectors,
		Exporters:  exporters,
		Telemetry: telemetry.NewFactory(
			func() component.Config { return &nothingToConfigure{} },
			telemetry.WithCreateLogger(logOnStandardError)),
	}, err
}

func main() {
	settings := otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{
			Command: "otelcol", Description: "Collector of Crest's tests", Version: "0.161.0"},
		Factories: factories,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{
			ResolverSettings: confmap.ResolverSettings{
				ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory()},
				DefaultScheme:     "file",
			},
		},
	}
	if err := otelcol.NewCommand(settings).Execute(); err != nil {
		log.Fatal(err)
	}
}
