/** Books courses. Most bookings fail, each for a different reason, which is reported to the caller. */
import { readFile } from 'node:fs/promises';
import { createClient, isWorkflowFailedError } from '@stepwright/sdk';
import { ActivityFailure, Worker } from '@stepwright/worker-sdk';
import { startSchool } from './school.ts';

const baseUrl = process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001';
const client = createClient({ baseUrl });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** The start data of the run. */
interface BookingInput {
  name: string;
  school: string;
  course: string;
  card: string;
}

/** The data of the run when it has succeeded. */
interface Booking extends BookingInput {
  exists: boolean;
  receipt: string;
}

await client.steps.put('check-name', await read('check-name.py'));
await client.definitions.register(await read('book-course.yaml'));

const worker = new Worker({
  baseUrl,
  activities: {
    'charge-fee': ({ card }: { card: string }, { attempt, idempotencyKey }) => {
      // The bank may be available at the next attempt, which has the same key.
      if (card === 'slow' && attempt === 1) throw new Error('the bank does not answer');
      // No further attempt can charge this card: NonRetryable of the step lists the type.
      if (card === 'stolen') {
        throw new ActivityFailure('the card was reported stolen', { type: 'CardStolen' });
      }
      return { receipt: `r-${idempotencyKey.slice(0, 8)}` };
    },
  },
});
const stop = new AbortController();
const running = worker.run({ signal: stop.signal });
const school = await startSchool(['pottery', 'chess']);

async function book(name: string, course: string, card: string): Promise<void> {
  const data = { name, course, card, school: school.url };
  const booking = await client.workflows.start<Booking, BookingInput>('book-course', data);
  try {
    const { receipt } = await booking.result({ timeoutMs: 20_000 });
    console.log(`${course}: booked, receipt ${receipt}`);
  } catch (error) {
    if (!isWorkflowFailedError(error)) throw error;
    console.log(`${course}: ${error.outcome}, ${error.error?.message ?? 'unknown reason'}`);
  }
  for await (const { stepId, attempt, error } of booking.steps()) {
    if (error !== null) console.log(`  ${stepId}, attempt ${attempt}: ${error.type}`);
  }
}

try {
  await book('Ada', 'pottery', 'slow');
  await book('Ada', 'juggling', 'good');
  await book('Ada', 'chess', 'stolen');
  await book('  ', 'chess', 'good');
} finally {
  stop.abort();
  await running;
  school.close();
}
