//! An enqueue that does not rest until it is known what became of it.

use std::time::Duration;

use echomq::{Enqueued, Error, JobSpec, Queue};
use tokio::time::Instant;

/// The wait between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// Enqueues jobs and, where the answer never came, asks again under the same ids until `patience` is over.
///
/// A second answer of *duplicate* then means that the first call did add the job, so it counts as added. A job
/// that was added and worked off between the two calls is added once more: delivery is at least once, and
/// [`Audit::doubled`](crate::Audit::doubled) counts it.
///
/// Give it what fits one call: at most 1,000 jobs and half a MiB, or a single larger job.
///
/// # Errors
///
/// What the last try said; once an answer got lost, the error with [`Error::unknown_ids`], whose jobs may or may not be
/// in, whatever came after it.
pub async fn enqueue_surely(
    queue: &Queue,
    mut jobs: Vec<JobSpec>,
    patience: Duration,
) -> Result<Vec<Enqueued>, Error> {
    let until = Instant::now() + patience;
    let mut lost_answer: Option<Error> = None;
    loop {
        let error = match queue.enqueue_many(jobs.clone()).await {
            Ok(mut results) => {
                if lost_answer.is_some() {
                    results.iter_mut().for_each(count_as_added);
                }
                return Ok(results);
            }
            Err(error) => error,
        };
        let ids = error.unknown_ids();
        let in_one_call = ids.is_empty() || ids.len() == jobs.len();
        let may_help = error.is_unknown() || error.is_not_now();
        if !may_help || !in_one_call || Instant::now() + PAUSE >= until {
            return Err(lost_answer.unwrap_or(error));
        }
        if !ids.is_empty() {
            jobs = jobs.into_iter().zip(ids).map(|(job, id)| job.id(id.clone())).collect();
            lost_answer = Some(error);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn count_as_added(result: &mut Enqueued) {
    if let Enqueued::Duplicate(id) = result {
        *result = Enqueued::Added(id.clone());
    }
}
