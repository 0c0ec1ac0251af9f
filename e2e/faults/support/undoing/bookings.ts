/**
 * Runs of `booking.ts`: half of them fail, the others are terminated with compensation when some of their effects have begun.
 * `explain` is read again and again until each run has ended.
 */
import { setTimeout } from 'node:timers/promises';
import { eventually } from '../eventually.js';
import type { PersistentClient } from '../persistent-client.js';
import type { Random } from '../random.js';
import { untilEnded } from '../until-ended.js';
import type { Instance } from '../wire.js';
import { BOOKING, ITEMS, type Booking } from './booking.js';
import type { OutsideServices } from './outside-services.js';

const EXPLAIN_PAUSE_MS = 100;
/** Calls of a run that begin whatever happens: a booking and a reservation for each item. */
const CALLS_MIN = ITEMS.length * 2;

/** An answer of `explain` that says what the run waits for before it undoes. */
export interface WaitSample {
  readonly askedAt: number;
  /** The ids of the steps in flight that it names. */
  readonly inFlight: readonly string[];
}

export interface EndedBooking extends Booking {
  readonly workflowId: string;
  readonly startedAt: number;
  readonly instance: Instance & { readonly outcome: string | null };
  readonly samples: readonly WaitSample[];
}

export interface BookingsOptions {
  readonly client: PersistentClient;
  readonly services: OutsideServices;
  readonly random: Random;
}

export class Bookings {
  readonly ended: EndedBooking[] = [];
  readonly #options: BookingsOptions;
  #count = 0;

  constructor(options: BookingsOptions) {
    this.#options = options;
  }

  async define(): Promise<void> {
    await this.#options.client.call('POST', '/api/definition', { body: BOOKING });
  }

  /** Runs one after another in each lane, as long as `goesOn` returns true. */
  async runWhile(goesOn: (started: number) => boolean, lanes: number): Promise<void> {
    let started = 0;
    const lane = async (): Promise<void> => {
      while (goesOn(started)) {
        started += 1;
        this.ended.push(await this.#run());
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  }

  async #run(): Promise<EndedBooking> {
    const { client, services } = this.#options;
    this.#count += 1;
    const name = `booking-${this.#count}`;
    const isRefused = this.#count % 2 === 0;
    const booking: Booking = { name, isRefused, items: ITEMS, services: services.url };
    const startedAt = Date.now();
    const path = `/api/workflow/booking?reference=${name}`;
    const { body } = await client.call('POST', path, { body: booking, key: `start-${name}` });
    const { workflowId } = body as Instance;
    const over = new AbortController();
    const samples = this.#sample(workflowId, over.signal);
    // If something else fails first, nobody awaits it.
    samples.catch(() => undefined);
    if (!isRefused) await this.#terminate(name, workflowId);
    const instance = (await untilEnded(client, workflowId)) as EndedBooking['instance'];
    over.abort();
    return { ...booking, workflowId, startedAt, instance, samples: await samples };
  }

  async #terminate(name: string, workflowId: string): Promise<void> {
    const { client, random, services } = this.#options;
    const after = 1 + Math.floor(random() * CALLS_MIN);
    await eventually(`${name} has made ${after} calls`, () => {
      return services.of(name).effects.size >= after;
    });
    await client.call('DELETE', `/api/workflow/${workflowId}?compensate=true`);
  }

  async #sample(workflowId: string, over: AbortSignal): Promise<readonly WaitSample[]> {
    const samples: WaitSample[] = [];
    while (!over.aborted) {
      const askedAt = Date.now();
      const { body } = await this.#options.client.call(
        'GET',
        `/api/workflow/${workflowId}/explain`,
      );
      for (const inFlight of inFlightOf(body)) samples.push({ askedAt, inFlight });
      await setTimeout(EXPLAIN_PAUSE_MS, undefined, { signal: over }).catch(() => undefined);
    }
    return samples;
  }
}

/** The steps named by each reason such as `undoing: waits for 2 steps in flight: book (held by …), charge (a call)`. */
function inFlightOf(body: unknown): readonly (readonly string[])[] {
  const { reasons } = body as {
    readonly reasons: readonly { readonly kind: string; readonly text: string }[];
  };
  return reasons
    .filter(({ kind }) => kind === 'compensating')
    .map(({ text }) => /^undoing: waits for \d+ steps? in flight: (.*)$/.exec(text)?.[1] ?? '')
    .filter((named) => named !== '')
    .map(
      (named) =>
        named.replaceAll(/\([^)]*\)/g, '').match(/\b(?:book|charge|reserve|check)\b/g) ?? [],
    );
}
