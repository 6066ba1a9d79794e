# EM for Gaussian mixtures by mclust, called as `fit_by_program` in skem/repro/papers/sanderson2017/engines.py says. Without arguments: the version.
suppressMessages(library(mclust))
args <- commandArgs(trailingOnly = TRUE)
if (length(args) == 0) { cat(as.character(packageVersion("mclust"))); quit() }
n <- as.integer(args[3]); m <- as.integer(args[4]); k <- as.integer(args[5]); iterations <- as.integer(args[6])
data <- matrix(readBin(file.path(args[2], "data"), "double", n * m), n, m, byrow = TRUE)
init <- readBin(file.path(args[2], "init"), "double", k + k * m + k * m * m)
sigma <- array(init[-seq_len(k + k * m)], c(m, m, k))
variance <- list(modelName = "VVV", d = m, G = k, sigma = sigma,
                 cholsigma = array(apply(sigma, 3, chol), c(m, m, k)))
parameters <- list(pro = init[seq_len(k)], mean = matrix(init[k + seq_len(k * m)], m, k), variance = variance)
seconds <- system.time(
  fit <- em(data, "VVV", parameters, control = emControl(tol = c(0, 0), itmax = c(iterations, iterations)), warn = FALSE)
)[["elapsed"]]
fitted <- fit$parameters
writeBin(c(fitted$pro, as.vector(fitted$mean), as.vector(fitted$variance$sigma)), file.path(args[2], "fitted"))
cat(seconds)
