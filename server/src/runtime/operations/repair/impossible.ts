/** The error that lists all obstacles to a modification. */
import type { Obstacle } from '../../../engine/model/modification.js';
import { AppError } from '../../../base/errors.js';

export function impossible(workflowId: string, obstacles: readonly Obstacle[]): AppError {
  const [first] = obstacles;
  const others = obstacles.length - 1;
  const more = others === 0 ? '' : ` (and ${others} more obstacle${others === 1 ? '' : 's'})`;
  return new AppError(
    'modification_impossible',
    `The run cannot be modified in this way: ${first?.message ?? ''}${more}`,
    { problems: obstacles, fields: { workflowId } },
  );
}
