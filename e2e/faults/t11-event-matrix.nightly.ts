import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readEventCells } from './support/event-cells.js';
import { EVENT_WORKFLOWS, EventScenario } from './support/event-scenario.js';
import { Fleet } from './support/fleet.js';
import { PersistentClient } from './support/persistent-client.js';

/** The shortest valid setting. */
const RETENTION_SECONDS = 60;

describe.each([{ store: 'sqlite' }, { store: 'mongo' }, { store: 'postgres' }] as const)(
  'T-11 every documented case of events on $store',
  ({ store }) => {
    let fleet: Fleet;
    let client: PersistentClient;

    beforeAll(async () => {
      const settings = { EVENT_RETENTION_SECONDS: String(RETENTION_SECONDS) };
      fleet = await Fleet.start({ count: 2, store, settings });
      client = new PersistentClient(() => fleet.urls);
      for (const { definition } of Object.values(EVENT_WORKFLOWS)) {
        await client.call('POST', '/api/definition', { body: definition });
      }
    });
    afterAll(() => fleet.stop());

    const passRetention = async (): Promise<void> => {
      await setTimeout((RETENTION_SECONDS + 1) * 1000);
      // A node removes old data when it starts, and then once a minute.
      await fleet.kill(0);
      await fleet.restart(0);
    };

    // The cases of retention come last: their restart removes nothing that another case still needs.
    const isLong = (actions: readonly string[]): boolean =>
      actions.some((action) => action.includes('retention'));
    const cells = readEventCells().map((cell, at) => ({ ...cell, key: `cell-${at}` }));
    const [short, long] = [false, true].map((wanted) =>
      cells.filter(({ actions }) => isLong(actions) === wanted),
    );

    it.each(short ?? [])('holds for $workflow: $actions', async ({ key, taken, ...cell }) => {
      const scenario = new EventScenario(client, { ...cell, taken }, { key, passRetention });
      for (const action of cell.actions) await scenario.do(action);
      expect(await scenario.end()).toEqual(taken);
    });

    it('takes no event after its retention', async () => {
      expect(long?.length).toBeGreaterThan(0);
      let passing: Promise<void> | null = null;
      // All cases wait during the same minute.
      const passTogether = async (): Promise<void> => {
        await (passing ??= passRetention());
      };
      await Promise.all(
        (long ?? []).map(async ({ key, taken, ...cell }) => {
          const options = { key, passRetention: passTogether };
          const scenario = new EventScenario(client, { ...cell, taken }, options);
          for (const action of cell.actions) await scenario.do(action);
          expect(await scenario.end()).toEqual(taken);
        }),
      );
      expect(fleet.faults).toEqual([]);
    });
  },
);
