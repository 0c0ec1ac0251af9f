/**
 * A pass: the engine's work between two commits.
 *
 * Owns: the end of a pass. A pass may stop early because it has done or added enough, but it never stops before it has checked
 * all cancel conditions that were due before the last step: the only exits from the loop follow a check. A pass whose
 * evaluation was canceled also ends; the interrupted check or step is due again. `canContinue` decides whether the session has
 * more work.
 */
import type { Session } from '../../engine/session/session.js';
import { nextWork } from '../../engine/flow/step-work.js';
import { nextSlice, SLICE_MS } from '../../base/slices.js';
import { checkCancelConditions } from './cancel-checks.js';
import { haltBeyond } from './instance-bounds.js';
import type { PassEnvironment } from './pass-environment.js';
import type { PendingEvaluation } from './pending-evaluation.js';
import { evaluateWork } from './evaluate-work.js';

/** Maximum number of steps of a pass before it is committed and others get their turn. */
const PASS_STEPS_MAX = 1000;
const PASS_MS_MAX = 50;
/** Approximate maximum growth per commit, in characters: it is in memory several times while it is written. */
const PASS_LENGTH_MAX = 4 * 1024 * 1024;

export async function runPass(
  session: Session,
  environment: PassEnvironment,
  pending: PendingEvaluation,
): Promise<void> {
  const startedAt = performance.now();
  let heldSince = startedAt;
  let isSpent = false;
  for (let turns = 1; ; turns += 1) {
    await checkCancelConditions(session, environment, pending);
    if (pending.isCalledOff || isSpent || turns > PASS_STEPS_MAX) break;
    // A cancellation may have opened steps with conditions of their own, which are checked before anything runs.
    if (session.cancelCheckDue) continue;
    if (session.commitDue && session.queue.size > 0) break;
    session.now = environment.clock.now();
    haltBeyond(session, environment.limits);
    const work = nextWork(session);
    if (work === null) break;
    await evaluateWork(environment, session, { pending, work });
    const now = performance.now();
    isSpent = session.grown > PASS_LENGTH_MAX || now - startedAt > PASS_MS_MAX;
    if (isSpent || now - heldSince <= SLICE_MS) continue;
    await nextSlice();
    heldSince = performance.now();
  }
  session.restingSince = session.now;
}
