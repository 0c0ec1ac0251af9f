/** Why an action fails for an instance, as shown in the job and its preview. */
import type { AppError } from '../../base/errors.js';
import type { BulkFailure } from './bulk-types.js';

const MESSAGE_LENGTH_MAX = 1000;
const PROBLEMS_MAX = 20;

export function bulkFailure(workflowId: string, error: AppError): BulkFailure {
  const { code, fields, message, problems } = error;
  return {
    workflowId,
    code,
    message: message.slice(0, MESSAGE_LENGTH_MAX),
    fields,
    problems: problems.slice(0, PROBLEMS_MAX),
  };
}
