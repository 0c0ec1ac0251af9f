/** The primitive of each step type. */
import type { BuiltInStepType } from '../model/step-type-names.js';
import type { Pointer } from '../model/pointer.js';
import { stepOf, type Session } from '../session/session.js';
import { activity } from './activity.js';
import { delay } from './delay.js';
import { effect, subWorkflow } from './effects.js';
import { emitLog } from './emit-log.js';
import { fail } from './fail.js';
import { foreach } from './foreach.js';
import { ifStep } from './if.js';
import { noOp } from './no-op.js';
import { parallel } from './parallel.js';
import type { Primitive } from './primitive.js';
import { recur } from './recur.js';
import { schedule } from './schedule.js';
import { waitFor } from './wait-for.js';
import { whileStep } from './while.js';

const PRIMITIVES: Readonly<Record<BuiltInStepType, Primitive>> = {
  EmitLog: emitLog,
  NoOp: noOp,
  Decide: noOp,
  If: ifStep,
  While: whileStep,
  Foreach: foreach,
  Parallel: parallel,
  Sequence: parallel,
  Delay: delay,
  Schedule: schedule,
  Recur: recur,
  WaitFor: waitFor,
  Activity: activity,
  HttpRequest: effect,
  SubWorkflow: subWorkflow,
  Fail: fail,
};

export function primitiveOf(session: Session, pointer: Pointer): Primitive {
  const { type } = stepOf(session, pointer);
  return type === null ? effect : PRIMITIVES[type];
}
