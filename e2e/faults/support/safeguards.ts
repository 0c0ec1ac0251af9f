/**
 * The safeguards that are removed, one at a time, and the fault test that must notice.
 *
 * The patches apply to the text of the built server, so that no build is needed; a text that does not occur exactly
 * once is an error, which safeguards.test.ts finds in every run of the tests.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export interface Patch {
  /** In `server/dist`. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export interface Safeguard {
  readonly name: string;
  readonly patches: readonly Patch[];
  /** The file of the test, and a part of the titles of its tests. */
  readonly test: string;
  readonly only?: string;
  /** FAULTS_SCALE, for faults that occur by chance. */
  readonly scale?: number;
  /** A part of the failure message, which must be about the safeguard and nothing else. */
  readonly shows: RegExp;
  /** `green`: another safeguard has the same effect, so removing only this one changes nothing. */
  readonly expected: 'red' | 'green';
}

const MONGO_COMMITS = 'store/mongo/grouped-commits.js';
const SQLITE_INSTANCES = 'store/sqlite/statements/instances.js';
const SQLITE_CONDITION = 'WHERE id = ? AND epoch = ? AND inSeq = ? AND revision =';
const MONGO_CONDITION = 'const guard = { _id, epoch, inSeq, revision };';

const NO_EPOCH: readonly Patch[] = [
  {
    file: MONGO_COMMITS,
    find: MONGO_CONDITION,
    replace: 'const guard = { _id, inSeq, revision };',
  },
  {
    file: SQLITE_INSTANCES,
    find: SQLITE_CONDITION,
    replace: 'WHERE id = ? AND epoch + ? > 0 AND inSeq = ? AND revision =',
  },
];

const LOOK_AFTER = `if (await this.#lookForEvents(phase))
            goOn(phase);`;
const COMMIT = `if (session.dirty || !this.isStored)
            await this.#commit(phase);`;

export const SAFEGUARDS: readonly Safeguard[] = [
  {
    name: 'fence',
    patches: [
      {
        file: MONGO_COMMITS,
        find: MONGO_CONDITION,
        replace: 'const guard = { _id, inSeq };',
      },
      {
        file: SQLITE_INSTANCES,
        find: `${SQLITE_CONDITION} ?`,
        replace: 'WHERE id = ? AND epoch + ? > 0 AND inSeq = ? AND revision + ? >= 0',
      },
    ],
    test: 't03',
    shows: /by: 'heir'/,
    expected: 'red',
  },
  { name: 'epoch', patches: NO_EPOCH, test: 't03', shows: /by: 'heir'/, expected: 'green' },
  {
    name: 'inSeq',
    patches: [
      {
        file: MONGO_COMMITS,
        find: MONGO_CONDITION,
        replace: 'const guard = { _id, epoch, revision };',
      },
    ],
    test: 't05',
    scale: 3,
    // A run that has lost its resumption never ends.
    shows: /resume: 400|to be 'Terminated'|Suspended|Runnable|\(suspend\) ends/,
    expected: 'red',
  },
  {
    name: 'wait-then-look',
    patches: [
      { file: 'runtime/instances/instance-actor.js', find: LOOK_AFTER, replace: '' },
      {
        file: 'runtime/instances/instance-actor.js',
        find: COMMIT,
        replace: `await this.#lookForEvents(phase); ${COMMIT}`,
      },
    ],
    test: 't10',
    shows: /takes its event|first: 'one'/,
    expected: 'red',
  },
  {
    name: 'store-then-look',
    patches: [
      {
        file: 'runtime/events/event-publisher.js',
        find: 'const stored = starts\n            ? await store.insertEvent(event)\n            : await store.insertEvent(event, message, runner.claimer);',
        replace: `const early = await this.#deliver(traced, message, [], starts);
        const stored = await store.insertEvent({ ...event, deliveredTo: early });`,
      },
      {
        file: 'runtime/events/event-publisher.js',
        find: 'await this.#deliverInserted(stored, traced, { message, starts })',
        replace: 'early',
      },
    ],
    test: 't10',
    shows: /takes its event|first: 'one'/,
    expected: 'red',
  },
  {
    name: 'token',
    patches: [
      {
        file: 'store/mongo/activities.js',
        find: 'findOneAndUpdate({ _id, tokenHash, done: false }, {\n        $set: {\n            done: true',
        replace:
          'findOneAndUpdate({ _id, done: false }, {\n        $set: {\n            done: true',
      },
      {
        file: 'store/sqlite/statements/activities.js',
        find: "if (item?.tokenHash !== tokenHash)\n        return { outcome: 'stale' };\n    const id",
        replace: "if (item === null)\n        return { outcome: 'stale' };\n    const id",
      },
    ],
    test: 't12',
    only: 'lease has expired',
    shows: /activity\/success\/\S+: 202/,
    expected: 'red',
  },
  {
    name: 'alone',
    patches: [
      {
        file: 'runtime/instances/take-over.js',
        find: 'return crashes + (suspected ? 1 : 0) >= TRIAL_FROM;',
        replace: 'return crashes + (suspected ? 1 : 0) >= this.#options.crashesMax;',
      },
    ],
    test: 't37',
    only: 'killed 30 times',
    scale: 0.2,
    shows: /to deeply equal \[\]|Suspended/,
    expected: 'red',
  },
  {
    name: 'archived-first',
    patches: [
      {
        file: 'runtime/housekeeping/housekeeping.js',
        find: 'const archived = await archive.append(expired.slice(0, ARCHIVE_BATCH));',
        replace:
          'await this.#remove(expired.slice(0, ARCHIVE_BATCH));\n            const archived = await archive.append(expired.slice(0, ARCHIVE_BATCH));',
      },
    ],
    test: 't40',
    only: 'on sqlite',
    scale: 0.05,
    shows: /expected undefined to deeply equal/,
    expected: 'red',
  },
  {
    name: 'trigger-run-id',
    patches: [
      {
        file: 'runtime/trigger-records/trigger-state.js',
        find: 'return `t-${hashOf(record.id,',
        replace: 'return `t-${hashOf(record.id, String(Math.random()),',
      },
    ],
    test: 't42',
    only: 'on sqlite',
    scale: 0.3,
    shows: /started two runs for one time/,
    expected: 'red',
  },
  {
    name: 'wait-in-flight',
    patches: [
      {
        file: 'engine/failure/stop.js',
        find: 'const isItself = pointer !== failed && isInFlight(session, pointer, requested);',
        replace: 'const isItself = false;',
      },
    ],
    test: 't43',
    only: '1 x sqlite',
    scale: 0.2,
    shows: /UN[23] /,
    expected: 'red',
  },
  {
    name: 'grace',
    patches: [
      {
        file: 'engine/failure/stop.js',
        find: 'return session.now + (graceMs ?? GRACE_MS);',
        replace: 'return session.now;',
      },
    ],
    test: 't43',
    only: '1 x sqlite',
    scale: 0.2,
    shows: /UN3 .*nothing was killed|UN3 .*before its end/,
    expected: 'red',
  },
  {
    name: 'lost-call',
    patches: [
      {
        file: 'engine/flow/lifecycle.js',
        find: `for (const pointer of interrupted)
        cutOff(session, pointer, 'the server stopped during the call');`,
        replace: '',
      },
    ],
    test: 't43',
    only: '1 x sqlite',
    scale: 0.4,
    // Nothing tells the run that the call has ended, so it waits until the end of the grace.
    shows: /not within .* ends/,
    expected: 'red',
  },
  {
    name: 'slot-count',
    patches: [
      {
        file: 'store/sql/slot-rows.js',
        find: 'AND (held.isActivity = FALSE OR (item.done = FALSE AND item.tokenHash IS NOT NULL))',
        replace: 'AND held.isActivity = FALSE',
      },
    ],
    test: 't45-limits.test',
    only: '1 x sqlite.+exceeds',
    shows: /work.* (?:at a time|with the key)/,
    expected: 'red',
  },
  {
    name: 'slot-end',
    patches: [
      {
        file: 'engine/session/slots.js',
        find: `if (!isTaken && !isWaiting)
        changes.freedSlots.push(slots);`,
        replace: '',
      },
    ],
    test: 't45-limits.test',
    only: '1 x sqlite.+lets',
    shows: /not within .* are held and/,
    expected: 'red',
  },
  {
    name: 'slot-wakeup',
    patches: [
      {
        file: 'runtime/instances/commit-follow-up.js',
        find: `if (saved.limitKeys.length > 0)
            lookAtLimits(saved.limitKeys);`,
        replace: '',
      },
    ],
    test: 't45-limits.test',
    only: '1 x sqlite.+lets',
    shows: /not within .* are held and/,
    expected: 'red',
  },
  {
    name: 'joined-start',
    patches: [
      {
        file: 'runtime/operations/window-joins.js',
        find: `if (instance.debounce?.joins.includes(id) === true)
        return { joined: await viewInstance(record) };`,
        replace: '',
      },
    ],
    test: 't46-debounced-starts.test',
    only: 'sqlite',
    shows: /is in two runs/,
    expected: 'red',
  },
];

/** @param dist the folder of the built server. @returns the text of the file without the safeguard. @throws Error */
export function patched({ file, find, replace }: Patch, dist: string): string {
  const parts = readFileSync(path.join(dist, file), 'utf8').split(find);
  if (parts.length !== 2) {
    throw new Error(
      `${file} contains this text ${parts.length - 1} times instead of once:\n${find}`,
    );
  }
  return parts.join(replace);
}

/** Changes the file in the folder. */
export function applyPatch(patch: Patch, dist: string): void {
  writeFileSync(path.join(dist, patch.file), patched(patch, dist));
}
