// Prediction SVM by SVM: rows sorted by the SVM they are put to, in blocks (svm/vote_block.hpp).
#pragma once

#include "svm/predict.hpp"

namespace surewood {

// Whether that should be quicker than one product with all support rows; a guess, both give the same codes.
bool blocks_are_quicker(std::int64_t rows, const SvmTable& table, const std::int32_t* assign, int tasks);

// `codes` as in PredictionTarget; polynomial kernels only. False when stopped.
bool predict_by_svm(const double* x, std::int64_t rows, const KernelSpec& kernel, const SvmTable& table,
                    const StoredProducts& stored, const std::int32_t* assign, int tasks, StopSignal& stop,
                    std::int32_t* codes);

}  // namespace surewood
