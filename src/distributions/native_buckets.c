/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native histograms from cells. See native_buckets.h.
 */
#include "distributions/native_buckets.h"

#include <math.h>

#define NATIVE_BOUNDS 256u

/* Saturating sum of two counts. */
static uint64_t native_plus(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* 2^(i/256) / 2, each correctly rounded: the bounds within a power of two of the finest schema.
 * Coarser schemas use every second, fourth and so on. A logarithm would be off by a bucket for some
 * values. */
/* clang-format off */
static const double native_bounds[NATIVE_BOUNDS] = {
    0.5, 0.5013556375251013, 0.5027149505564014, 0.5040779490592088, 0.5054446430258502,
    0.5068150424757447, 0.5081891574554765, 0.509566998038869, 0.5109485743270583,
    0.5123338964485679, 0.5137229745593819, 0.5151158188430205, 0.5165124395106142,
    0.5179128468009786, 0.5193170509806894, 0.520725062344158, 0.5221368912137069,
    0.5235525479396449, 0.5249720429003436, 0.5263953865023132, 0.5278225891802786,
    0.5292536613972564, 0.530688613644631, 0.5321274564422322, 0.5335702003384118,
    0.5350168559101209, 0.5364674337629878, 0.5379219445313955, 0.5393803988785599,
    0.5408428074966076, 0.5423091811066546, 0.5437795304588848, 0.5452538663326288,
    0.5467321995364429, 0.5482145409081884, 0.549700901315111, 0.5511912916539204,
    0.5526857228508706, 0.5541842058618394, 0.5556867516724088, 0.5571933712979462,
    0.5587040757836846, 0.5602188762048034, 0.56173778366651, 0.5632608093041209, 0.564787964283144,
    0.5663192597993596, 0.5678547070789027, 0.5693943173783458, 0.5709381019847808,
    0.5724860722159021, 0.5740382394200895, 0.5755946149764913, 0.577155210295108,
    0.5787200368168756, 0.5802891060137494, 0.5818624293887887, 0.5834400184762408,
    0.5850218848416251, 0.5866080400818187, 0.5881984958251406, 0.5897932637314379,
    0.5913923554921705, 0.5929957828304969, 0.5946035575013605, 0.5962156912915756,
    0.5978321960199137, 0.5994530835371903, 0.6010783657263515, 0.6027080545025619,
    0.6043421618132908, 0.6059806996384006, 0.6076236799902345, 0.6092711149137042,
    0.6109230164863788, 0.6125793968185728, 0.614240268053435, 0.6159056423670379,
    0.6175755319684667, 0.6192499490999083, 0.620928906036742, 0.622612415087629,
    0.6243004885946024, 0.6259931389331581, 0.6276903785123455, 0.6293922197748583,
    0.6310986751971254, 0.6328097572894031, 0.6345254785958666, 0.6362458516947014,
    0.637970889198196, 0.6397006037528347, 0.6414350080393891, 0.6431741147730128,
    0.6449179367033329, 0.6466664866145447, 0.6484197773255048, 0.6501778216898253,
    0.6519406325959679, 0.6537082229673387, 0.6554806057623822, 0.6572577939746773,
    0.659039800633032, 0.6608266388015788, 0.6626183215798707, 0.6644148621029772,
    0.6662162735415808, 0.6680225691020729, 0.6698337620266515, 0.6716498655934177,
    0.6734708931164729, 0.6752968579460172, 0.6771277734684463, 0.6789636531064506,
    0.6808045103191124, 0.682650358602006, 0.6845012114872953, 0.6863570825438342,
    0.6882179853772651, 0.690083933630119, 0.691954940981916, 0.6938310211492645,
    0.6957121878859631, 0.6975984549831001, 0.6994898362691556, 0.7013863456101024,
    0.7032879969095077, 0.7051948041086353, 0.7071067811865476, 0.7090239421602076,
    0.7109463010845828, 0.7128738720527471, 0.714806669195985, 0.7167447066838945,
    0.7186879987244912, 0.7206365595643128, 0.7225904034885233, 0.7245495448210175,
    0.7265139979245263, 0.7284837772007219, 0.7304588970903235, 0.7324393720732029,
    0.7344252166684909, 0.7364164454346838, 0.7384130729697497, 0.7404151139112359,
    0.7424225829363762, 0.7444354947621985, 0.7464538641456324, 0.7484777058836177,
    0.7505070348132128, 0.7525418658117032, 0.7545822137967114, 0.7566280937263049,
    0.7586795205991074, 0.7607365094544073, 0.7627990753722692, 0.7648672334736435,
    0.766940998920478, 0.7690203869158284, 0.7711054127039704, 0.7731960915705107, 0.7752924388425,
    0.7773944698885443, 0.7795022001189185, 0.7816156449856788, 0.7837348199827765,
    0.7858597406461707, 0.7879904225539432, 0.7901268813264123, 0.7922691326262469,
    0.794417192158582, 0.7965710756711335, 0.7987307989543135, 0.8008963778413467,
    0.8030678282083855, 0.8052451659746271, 0.8074284071024304, 0.8096175675974319,
    0.8118126635086644, 0.8140137109286739, 0.8162207259936375, 0.8184337248834822,
    0.8206527238220032, 0.8228777390769825, 0.8251087869603089, 0.8273458838280972,
    0.8295890460808081, 0.8318382901633682, 0.8340936325652912, 0.8363550898207983,
    0.8386226785089392, 0.8408964152537145, 0.8431763167241967, 0.8454623996346526,
    0.8477546807446663, 0.8500531768592617, 0.8523579048290256, 0.8546688815502315,
    0.856986123964963, 0.859309649061239, 0.861639473873137, 0.8639756154809188, 0.8663180910111555,
    0.8686669176368531, 0.8710221125775782, 0.8733836930995845, 0.8757516765159391,
    0.8781260801866497, 0.880506921518792, 0.8828942179666364, 0.8852879870317774,
    0.8876882462632606, 0.8900950132577122, 0.8925083056594675, 0.8949281411607005,
    0.8973545375015536, 0.8997875124702676, 0.902227083903312, 0.904673269685516,
    0.9071260877501994, 0.9095855560793042, 0.9120516927035267, 0.9145245157024486,
    0.9170040432046712, 0.9194902933879469, 0.921983284479313, 0.9244830347552254,
    0.9269895625416927, 0.9295028862144102, 0.9320230241988945, 0.9345499949706193,
    0.93708381705515, 0.9396245090282801, 0.9421720895161673, 0.9447265771954696,
    0.9472879907934828, 0.9498563490882777, 0.9524316709088371, 0.9550139751351949,
    0.9576032806985737, 0.9601996065815237, 0.9628029718180625, 0.9654133954938136,
    0.9680308967461472, 0.9706554947643202, 0.9732872087896166, 0.9759260581154892,
    0.9785720620877001, 0.9812252401044637, 0.9838856116165879, 0.9865531961276172,
    0.9892280131939755, 0.9919100824251097, 0.9945994234836332, 0.9972960560854701,
};
/* clang-format on */

int crest_native_schema(double factor)
{
    int schema = CREST_NATIVE_SCHEMA_MIN;
    while (schema < CREST_NATIVE_SCHEMA_MAX && crest_native_bound(1, schema) > factor)
        schema++;
    return schema;
}

int crest_native_index(double value, int schema)
{
    int exponent;
    double fraction = frexp(value, &exponent);
    if (schema <= 0) {
        int power = fraction == 0.5 ? exponent - 1 : exponent;
        return (power + (1 << -schema) - 1) >> -schema;
    }
    unsigned step = NATIVE_BOUNDS >> schema, low = 0, high = 1u << schema;
    while (low < high) { /* the first bound not below it */
        unsigned middle = (low + high) / 2;
        if (native_bounds[middle * step] < fraction)
            low = middle + 1;
        else
            high = middle;
    }
    return (int)low + (exponent - 1) * (1 << schema);
}

double crest_native_bound(int index, int schema)
{
    if (schema <= 0)
        return ldexp(1, index * (1 << -schema));
    int power = index >> schema, within = index - power * (1 << schema);
    return ldexp(native_bounds[(unsigned)within * (NATIVE_BOUNDS >> schema)], power + 1);
}

uint64_t crest_native_upper(int index, int schema, double divisor)
{
    double bound = crest_native_bound(index, schema), most = bound * divisor;
    uint64_t upper = most < 0x1p64 ? (uint64_t)most : UINT64_MAX;
    /* the product may be off by a rounding either way; the quotient decides */
    while (upper != 0 && (double)upper / divisor > bound)
        upper--;
    while (upper != UINT64_MAX && (double)(upper + 1) / divisor <= bound)
        upper++;
    return upper;
}

/* Two buckets become one. */
static void native_coarsen(crest_native *native)
{
    unsigned used = 0;
    for (unsigned i = 0; i < native->used; i++) {
        int index = (native->bucket[i].index + 1) >> 1;
        uint64_t count = native->bucket[i].count;
        if (used != 0 && native->bucket[used - 1].index == index)
            native->bucket[used - 1].count = native_plus(native->bucket[used - 1].count, count);
        else
            native->bucket[used++] = (crest_native_bucket){index, count};
    }
    native->used = used;
    native->schema--;
}

void crest_native_begin(crest_native *native, int schema, unsigned limit, unsigned decimals,
                        uint64_t zero)
{
    native->schema = schema;
    native->limit = limit;
    native->divisor = 1;
    for (unsigned i = 0; i < decimals; i++)
        native->divisor *= 10;
    native->zero_threshold =
        zero != 0 ? (double)zero / native->divisor : CREST_NATIVE_THRESHOLD_LEAST;
    native->zero_count = native->count = native->upper = 0;
    native->used = 0;
}

/* Appends a bucket of the present schema. */
static void native_append(crest_native *native, int index)
{
    native->bucket[native->used++] = (crest_native_bucket){index, 0};
    while (native->used > native->limit && native->schema > CREST_NATIVE_SCHEMA_MIN)
        native_coarsen(native);
}

void crest_native_add_bucket(crest_native *native, int schema, int index, uint64_t count)
{
    int coarser = schema - native->schema;
    index = (index + (1 << coarser) - 1) >> coarser;
    if (native->used == 0 || native->bucket[native->used - 1].index != index)
        native_append(native, index);
    crest_native_bucket *last = &native->bucket[native->used - 1];
    last->count = native_plus(last->count, count);
    native->count = native_plus(native->count, count);
    native->upper = 0; /* not known */
}

void crest_native_add(crest_native *native, uint64_t lowest, uint64_t highest, uint64_t count)
{
    uint64_t middle = lowest + (highest - lowest + 1) / 2;
    native->count = native_plus(native->count, count);
    if (lowest == 0) {
        native->zero_count = native_plus(native->zero_count, count);
        return;
    }
    if (native->used == 0 || middle > native->upper) {
        int index = crest_native_index((double)middle / native->divisor, native->schema);
        if (native->used == 0 || native->bucket[native->used - 1].index != index)
            native_append(native, index);
        native->upper = crest_native_upper(native->bucket[native->used - 1].index, native->schema,
                                           native->divisor);
    }
    crest_native_bucket *last = &native->bucket[native->used - 1];
    last->count = native_plus(last->count, count);
}
