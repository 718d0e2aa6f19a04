//! What people met in the field, a test a case, named by the id of the case.
