// EM for Gaussian mixtures by Armadillo, called as `fit_by_program` in skem/repro/papers/sanderson2017/engines.py says.
// Without arguments: the version.
#include <armadillo>
#include <chrono>

static const arma::cube &covariances(const arma::gmm_full &model) { return model.fcovs; }
static const arma::mat &covariances(const arma::gmm_diag &model) { return model.dcovs; }

template <class Model> static int fit(char **argv)
{
    const std::string folder = argv[2];
    const size_t n = std::stoul(argv[3]), m = std::stoul(argv[4]), k = std::stoul(argv[5]), kmeans = std::stoul(argv[7]);
    arma::vec samples;
    samples.load(folder + "/data", arma::raw_binary);
    const arma::mat data(samples.memptr(), m, n);
    Model model;
    auto learn = [&](const auto &seeds, size_t kmeans_iterations, size_t iterations) {
        const auto begin = std::chrono::steady_clock::now();
        if (!model.learn(data, k, arma::maha_dist, seeds, kmeans_iterations, iterations, std::stod(argv[9]), false)) {
            std::fprintf(stderr, "learning failed\n");
            std::exit(4);
        }
        std::printf("%.9f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    };
    if (kmeans > 0) { // EM continues from the result of k-means, as in one call, so that each is timed
        arma::arma_rng::set_seed(std::stoul(argv[8]) % 2147483648);
        learn(arma::random_subset, kmeans, 0);
    } else {
        arma::vec init;
        init.load(folder + "/init", arma::raw_binary);
        const arma::rowvec weights(init.memptr(), k);
        const arma::mat means(init.memptr() + k, m, k);
        if constexpr (std::is_same_v<Model, arma::gmm_full>)
            model.set_params(means, arma::cube(init.memptr() + k + k * m, m, m, k), weights);
        else
            model.set_params(means, arma::mat(init.memptr() + k + k * m, m, k), weights);
    }
    learn(arma::keep_existing, 0, std::stoul(argv[6]));
    arma::vec fitted = arma::join_cols(model.hefts.t(), arma::vectorise(model.means), arma::vectorise(covariances(model)));
    return fitted.save(folder + "/fitted", arma::raw_binary) ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc != 10)
        return std::puts(arma::arma_version::as_string().c_str()) < 0;
    return std::string(argv[1]) == "full" ? fit<arma::gmm_full>(argv) : fit<arma::gmm_diag>(argv);
}
