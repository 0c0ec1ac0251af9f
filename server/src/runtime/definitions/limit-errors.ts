/** Limits that steps name and the server doesn't have, and units that it never grants. */
import type { DocumentProblem } from '../../engine/model/definition.js';
import { excessiveUnits, unknownLimit } from '../../engine/definitions/late-problems.js';
import type { StepLimitUse } from '../../engine/definitions/parse-definition.js';
import { MAX_PROBLEMS } from '../../engine/definitions/problem-list.js';
import type { LimitList } from '../limits/limit-list.js';

/** Maximum number of names that an unknown one is compared with. */
const NAMES_MAX = 1000;

/** One problem beyond the limit of the list is enough to report that there are more. */
export async function limitErrors(
  uses: readonly StepLimitUse[],
  limits: Pick<LimitList, 'get' | 'names'>,
): Promise<readonly DocumentProblem[]> {
  const problems: DocumentProblem[] = [];
  let names: readonly string[] | null = null;
  for (const use of uses) {
    if (problems.length > MAX_PROBLEMS) break;
    const limit = await limits.get(use.name);
    if (limit === null) {
      names ??= await limits.names(NAMES_MAX);
      problems.push(unknownLimit(use, names));
    } else {
      problems.push(...excessiveUnits(use, limit));
    }
  }
  return problems;
}
