/** Repairs runs that failed because of a bug: finds their common cause, fixes the definition, and continues all of them. */
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const { bulk, definitions, workflows } = client;
const broken = await readFile(new URL('parcel.yaml', import.meta.url), 'utf8');
await definitions.register(broken);

const tag = `batch-${Date.now()}`;
for (const weight of [1, 2, 3]) {
  await workflows.start('parcel', { weight }, { tags: { batch: tag } });
}
const batch = { definitionId: 'parcel', where: [`tag.batch=${tag}`] };
while ((await workflows.count({ ...batch, status: 'Suspended' })).count < 3) await setTimeout(100);

const groups = await workflows.failures({ definitionId: 'parcel', order: 'lastTime', limit: 1 });
const [cause] = groups.items;
if (cause === undefined) throw new Error('No run has failed');
console.log(`one cause, at the step: ${cause.stepId}`);

const { version } = await definitions.register(broken.replace('wieght', 'weight'));
const modification = { version, resume: true };
const reason = 'the new version reads weight';
const foretold = await workflows.modify(cause.example, { ...modification, reason, dryRun: true });
console.log(`with the new version, a run would be: ${foretold.workflow.status}`);

const filter = { ...batch, failure: cause.key };
const job = await bulk.create({ action: 'modify', filter, modification, reason });
for await (const { done, failed, state } of bulk.follow(job.id, { everyMs: 100 })) {
  if (state === 'Done') console.log(`repaired: ${done}, not repaired: ${failed}`);
}

while ((await workflows.count({ ...batch, status: 'Complete' })).count < 3) await setTimeout(100);
for await (const { workflowId } of workflows.list(batch)) {
  const { data } = await workflows.get(workflowId);
  console.log(`a parcel of ${String(data['weight'])} costs ${String(data['cost'])}`);
}
