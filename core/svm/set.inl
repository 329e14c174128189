// All the vector code of the SVM engine, in an order in which each part knows what it needs. See svm/targets.cpp.
// clang-format off
#include "svm/lanes.inl"
#include "svm/solver.inl"
#include "svm/small.inl"
#include "svm/kernel_passes.inl"
#include "svm/vote_passes.inl"
// clang-format on
