// A worker as its own process, so that it can be killed: books at the outside service, whatever its run does meanwhile.
import { ActivityFailure, WorkCancelledError, Worker } from '@stepwright/worker-sdk';

const { LEASE_SECONDS, SERVER, SERVICES, WORKER_ID } = process.env;

async function book({ path }, { idempotencyKey, signal }) {
  if (signal.reason instanceof WorkCancelledError) throw new ActivityFailure('not booked');
  // Once the call has begun, its outcome counts, so it does not get the signal.
  const headers = { 'idempotency-key': idempotencyKey };
  const answer = await fetch(`${SERVICES}${path}`, { method: 'POST', headers });
  return answer.json();
}

const worker = new Worker({
  baseUrl: SERVER,
  workerId: WORKER_ID,
  leaseSeconds: Number(LEASE_SECONDS),
  activities: { book },
});
await worker.run();
