/**
 * Goal: a modification does what the documentation says, for each step type as the step that waits or failed, at each place, in
 * each status.
 * Method: trials are generated from a seed, so that each pair of step, place, status and modification occurs. A small model
 * predicts the answer, and the data and the status at the end. A dry run before each modification gives the same answer and
 * changes nothing.
 *
 * By day, the stores that run in the process; by night, all. REPAIR_TRIALS=all runs every combination; REPAIR_SEED=n chooses
 * other ones.
 */
import { beforeAll, it } from 'vitest';
import { IS_NIGHTLY } from '../../../sdk/test/support/nightly.js';
import { CAMEL_JSON } from './support/dialects.js';
import { everyStore } from './support/every-store.js';
import { defineCommon, Definitions, useService } from './support/repairs/repair-runs.js';
import { runTrial } from './support/repairs/run-trial.js';
import { allTrials, nameOf, pairwise } from './support/repairs/trials.js';

/** Combinations in which a run of all of them found a fault, of the server or of this test. */
const FOUND: ReadonlySet<string> = new Set([
  'failingNoOp in sub-workflow, complete: rerun',
  'failingParallel in Foreach in parallel, failed: rerun',
  'failingParallel in Foreach in parallel, suspended by a failure: rerun another version',
  'failingSubWorkflow in Foreach in parallel, suspended by a failure: patch data',
  'subWorkflow in While, complete: resume, with data',
]);

const SEED = Number(process.env['REPAIR_SEED'] ?? 17);
const every = allTrials(SEED);
const found = every.filter((trial) => FOUND.has(nameOf(trial)));
const daily = [...new Set([...pairwise(every), ...found])];
const isEveryTrial = process.env['REPAIR_TRIALS'] === 'all';
const trials = isEveryTrial ? every : daily;
const isEveryStore = IS_NIGHTLY || isEveryTrial;

const service = useService();

everyStore(
  'repairs',
  (at) => {
    const definitions = new Definitions();
    beforeAll(() => defineCommon(at.client));

    it.concurrent.for(trials.map((trial) => ({ does: nameOf(trial), trial })))(
      'has the effect of the model: $does',
      ({ trial }) => runTrial(at.client, service, definitions, trial),
    );
  },
  { dialects: [CAMEL_JSON], ...(!isEveryStore && { stores: ['memory', 'sqlite'] }) },
);
