// All the vector code of the SVM engine, in an order in which each part knows what it needs. See svm_targets.cpp.
#include "lanes.inl"
#include "svm_passes.inl"
#include "svm_free_steps.inl"
#include "svm_outcome.inl"
#include "svm_large.inl"
#include "svm_small.inl"
#include "kernel_passes.inl"
#include "vote_passes.inl"
