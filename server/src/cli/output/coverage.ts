/** Prints test coverage as text and as JSON. */
import type { JsonObject } from '../../engine/values/json.js';
import {
  percentOf,
  totalsOfAll,
  type ConditionCoverage,
  type CoverageTotals,
  type DefinitionCoverage,
  type StepCoverage,
} from '../../test-kit/files/coverage.js';
import type { Output } from './output.js';
import { plain } from './plain-text.js';

export function printCoverage(output: Output, coverage: readonly DefinitionCoverage[]): void {
  const { paint } = output;
  for (const { path, steps, totals } of coverage) {
    const style = percentOf(totals) === 100 ? 'green' : 'yellow';
    output.line(`${paint('bold', plain(path))}: ${paint(style, totalsText(totals))}`);
    for (const [problem, text] of steps.flatMap(gapsOf)) {
      output.line(`  ${paint('red', `${problem}:`)} ${plain(text)}`);
    }
  }
  output.line(`Coverage: ${percentOf(totalsOfAll(coverage))} % of steps and branches`);
}

/** The gaps in the coverage, each with its position. */
function gapsOf({ conditions, executions, step }: StepCoverage): (readonly [string, string])[] {
  if (executions === 0) return [['not run', step.id]];
  return conditions.flatMap((condition) => {
    const missing = missingValues(condition);
    return missing === '' ? [] : [[`never ${missing}`, conditionText(step.id, condition)] as const];
  });
}

export function totalsText({ branches, steps }: CoverageTotals): string {
  return `${steps.covered} of ${steps.total} steps, ${branches.covered} of ${branches.total} branches`;
}

function missingValues({ seen }: ConditionCoverage): string {
  return [...(seen.true === 0 ? ['true'] : []), ...(seen.false === 0 ? ['false'] : [])].join(
    ' or ',
  );
}

/** `decide → ship: data.paid` */
function conditionText(stepId: string, { member, source, target }: ConditionCoverage): string {
  return target === null ? `${stepId}, ${member}: ${source}` : `${stepId} → ${target}: ${source}`;
}

export function coverageJson(coverage: readonly DefinitionCoverage[]): JsonObject {
  return {
    ...totalsJson(totalsOfAll(coverage)),
    definitions: coverage.map(({ definition, path, steps, totals }) => ({
      file: path,
      id: definition.id,
      ...totalsJson(totals),
      executions: steps.map(({ conditions, executions, step }) => ({
        stepId: step.id,
        count: executions,
        conditions: conditions.map(({ member, seen, source, target }) => ({
          member,
          ...(target === null ? {} : { target }),
          expression: source,
          true: seen.true,
          false: seen.false,
        })),
      })),
    })),
  };
}

function totalsJson(totals: CoverageTotals): JsonObject {
  const { branches, steps } = totals;
  return { percent: percentOf(totals), steps: { ...steps }, branches: { ...branches } };
}
