# EM for Gaussian mixtures by mclust, on data and a start from files: seconds per fit and the parameters.
# Usage: Rscript peers.R ENGINE DATA START OUT N M K ITERATIONS   (files as for peers.cpp)
suppressMessages(library(mclust))
args <- commandArgs(trailingOnly = TRUE)
n <- as.integer(args[5]); m <- as.integer(args[6]); k <- as.integer(args[7]); iterations <- as.integer(args[8])
data <- matrix(readBin(args[2], "double", n * m), n, m, byrow = TRUE)
start <- readBin(args[3], "double", k + k * m + k * m * m)
sigma <- array(start[-seq_len(k + k * m)], c(m, m, k))
variance <- list(modelName = "VVV", d = m, G = k, sigma = sigma,
                 cholsigma = array(apply(sigma, 3, chol), c(m, m, k)))
parameters <- list(pro = start[seq_len(k)], mean = matrix(start[k + seq_len(k * m)], m, k), variance = variance)
seconds <- system.time(
  fit <- em(data, "VVV", parameters, control = emControl(tol = c(0, 0), itmax = c(iterations, iterations)), warn = FALSE)
)[["elapsed"]]
found <- fit$parameters
writeBin(c(found$pro, as.vector(found$mean), as.vector(found$variance$sigma)), args[4])
cat(seconds, "\n")
