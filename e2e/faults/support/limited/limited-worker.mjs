// A worker as its own process, so that it can be killed: calls the target of limited steps for each work item.
import { Worker } from '@stepwright/worker-sdk';

const { LEASE_SECONDS, SERVER, SERVICES, WORKER_ID } = process.env;

async function work({ key, name }, { idempotencyKey }) {
  const headers = { 'idempotency-key': idempotencyKey };
  const answer = await fetch(`${SERVICES}/work/${key}/${name}`, { method: 'POST', headers });
  return answer.json();
}

const worker = new Worker({
  baseUrl: SERVER,
  workerId: WORKER_ID,
  concurrency: 4,
  leaseSeconds: Number(LEASE_SECONDS),
  activities: { work },
});
await worker.run();
