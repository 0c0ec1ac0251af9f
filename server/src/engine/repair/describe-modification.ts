/** Describes an applied modification in one line for the audit. */
import type { AppliedModification, Execution, Modification } from '../model/modification.js';

/** Maximum number of steps that are named; the others are only counted. */
const NAMED_MAX = 5;
/** Longer ids are truncated to fit the line. */
const NAME_LENGTH_MAX = 20;
const LENGTH_MAX = 800;

export function describeModification(
  {
    from,
    modification,
    to,
  }: {
    readonly modification: Pick<Modification, 'data' | 'reason'>;
    /** The version of the definition before and after. */
    readonly from: number;
    readonly to: number;
  },
  { cancelled, started }: Pick<AppliedModification, 'cancelled' | 'started'>,
): string {
  // The reason comes first, so that it is never cut: it may begin with the mark of a bulk job.
  const parts = [
    `reason: ${modification.reason}`,
    ...(cancelled.length > 0 ? [`canceled ${namesOf(cancelled)}`] : []),
    ...(modification.data === null ? [] : ['changed data']),
    ...(from === to ? [] : [`moved from version ${from} to ${to}`]),
    ...(started.length > 0 ? [`started ${namesOf(started)}`] : []),
  ];
  return parts.join('; ').slice(0, LENGTH_MAX);
}

function namesOf(executions: readonly Execution[]): string {
  const named = executions.slice(0, NAMED_MAX).map(({ stepId }) => shortened(stepId));
  const others = executions.length - named.length;
  return others === 0 ? named.join(', ') : `${named.join(', ')} and ${others} more`;
}

function shortened(stepId: string): string {
  return stepId.length <= NAME_LENGTH_MAX ? stepId : `${stepId.slice(0, NAME_LENGTH_MAX - 1)}…`;
}
