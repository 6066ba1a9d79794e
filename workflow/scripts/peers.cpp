// EM for Gaussian mixtures by Armadillo, on data and a start from files: seconds per fit and the parameters.
// Usage: peers ENGINE DATA START OUT N M K ITERATIONS   (DATA: N x M doubles, row by row; START, OUT: weights, means, covariances)
//    or: peers diag-from-kmeans DATA - OUT N M K ITERATIONS KMEANS_ITERATIONS SEED FLOOR   (seconds of k-means, and of EM)
#include <armadillo>
#include <chrono>
#include <cstdio>
#include <string>

using Clock = std::chrono::steady_clock;

static arma::vec read(const char *path, size_t n)
{
    arma::vec values(n);
    std::FILE *file = std::fopen(path, "rb");
    if (!file || std::fread(values.memptr(), sizeof(double), n, file) != n) {
        std::fprintf(stderr, "cannot read %s\n", path);
        std::exit(1);
    }
    std::fclose(file);
    return values;
}

int main(int argc, char **argv)
{
    const std::string engine = argc > 1 ? argv[1] : "";
    const bool from_kmeans = engine == "diag-from-kmeans";
    if (argc != (from_kmeans ? 12 : 9)) {
        std::fprintf(stderr, "usage: peers ENGINE DATA START OUT N M K ITERATIONS [KMEANS_ITERATIONS SEED FLOOR]\n");
        return 2;
    }
    const size_t n = std::stoul(argv[5]), m = std::stoul(argv[6]), k = std::stoul(argv[7]), iterations = std::stoul(argv[8]);
    const size_t parameters = k + k * m + k * m * m;
    arma::vec raw = read(argv[2], n * m), start = from_kmeans ? arma::vec(parameters) : read(argv[3], parameters);
    const arma::mat data(raw.memptr(), m, n); // rows of the file are columns here
    arma::rowvec weights(start.memptr(), k);
    arma::mat means(start.memptr() + k, m, k);
    arma::cube covariances(start.memptr() + k + k * m, m, m, k);
    double seconds = 0, kmeans_seconds = 0;

    if (engine == "full") {
        arma::gmm_full model;
        model.set_params(means, covariances, weights);
        const auto begin = Clock::now();
        model.learn(data, k, arma::eucl_dist, arma::keep_existing, 0, iterations, 1e-6, false);
        seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        weights = model.hefts, means = model.means, covariances = model.fcovs;
    } else if (engine == "diag") {
        arma::gmm_diag model;
        arma::mat variances(m, k);
        for (size_t c = 0; c < k; ++c)
            variances.col(c) = covariances.slice(c).diag();
        model.set_params(means, variances, weights);
        const auto begin = Clock::now();
        model.learn(data, k, arma::eucl_dist, arma::keep_existing, 0, iterations, 1e-6, false);
        seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        weights = model.hefts, means = model.means;
        for (size_t c = 0; c < k; ++c)
            covariances.slice(c) = arma::diagmat(model.dcovs.col(c));
    } else if (from_kmeans) {
        // As the paper's own program has it: Mahalanobis distances, a random subset of the rows as seeds. EM goes on from
        // what k-means leaves, which is what one call does, so that each can be timed.
        arma::gmm_diag model;
        const double floor = std::stod(argv[11]);
        arma::arma_rng::set_seed(std::stoul(argv[10]));
        auto begin = Clock::now();
        bool learned = model.learn(data, k, arma::maha_dist, arma::random_subset, std::stoul(argv[9]), 0, floor, false);
        kmeans_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        begin = Clock::now();
        learned = learned && model.learn(data, k, arma::maha_dist, arma::keep_existing, 0, iterations, floor, false);
        seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        if (!learned) {
            std::fprintf(stderr, "learning failed\n");
            return 4;
        }
        weights = model.hefts, means = model.means;
        for (size_t c = 0; c < k; ++c)
            covariances.slice(c) = arma::diagmat(model.dcovs.col(c));
    } else {
        std::fprintf(stderr, "there is no engine %s\n", engine.c_str());
        return 3;
    }

    std::FILE *file = std::fopen(argv[4], "wb");
    if (!file || std::fwrite(weights.memptr(), sizeof(double), k, file) != k ||
        std::fwrite(means.memptr(), sizeof(double), k * m, file) != k * m ||
        std::fwrite(covariances.memptr(), sizeof(double), k * m * m, file) != k * m * m || std::fclose(file) != 0) {
        std::fprintf(stderr, "cannot write %s\n", argv[4]);
        return 1;
    }
    if (from_kmeans)
        std::printf("%.9f ", kmeans_seconds);
    std::printf("%.9f\n", seconds);
}
