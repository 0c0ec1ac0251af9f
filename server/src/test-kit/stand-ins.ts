/**
 * Sub-workflows whose answers are mocked: a definition stands in for each, so that its start, its end and its errors are those of
 * a real child. Its first step asks the mock which answer is next; the steps after it give that answer.
 */
import { parseDefinition } from '../engine/definitions/parse-definition.js';
import { traitsOf } from '../engine/definitions/step-types.js';
import { writeJson } from '../engine/values/exact-json.js';
import { isJsonObject, type Json, type JsonObject } from '../engine/values/json.js';
import { messageOfFailure, typeOfFailure, type Answer, type Answers } from './answers.js';

/** The ids of the definitions that a document starts, as far as they are constants. */
export function subWorkflowsOf(document: unknown): readonly string[] {
  const { definition } = parseDefinition(document);
  if (definition === null) return [];
  return [...definition.steps.values()].flatMap(({ inputs, type }) => {
    if (!traitsOf({ type }).startsInstance) return [];
    const value = inputs.find(({ name }) => name === 'DefinitionId')?.value;
    if (value?.kind !== 'expression') return [];
    return /^\s*(["'])([^"'\\]+)\1\s*$/.exec(value.source)?.[2] ?? [];
  });
}

/** The activity of the first step. */
export function standInActivity(id: string): string {
  return `sub-workflow:${id}`;
}

/** Index of the next answer. Nothing follows on -1: then the answers have noted the problem. */
export function nextAnswerIndex(answers: Answers, id: string): number {
  const answer = answers.next(`the sub-workflow ${id}`, id);
  return answer === null ? -1 : answers.allOf(id).indexOf(answer);
}

export function standIn(id: string, answers: readonly Answer[]): JsonObject {
  const steps = answers.map((answer, index) => answerStep(`answer-${index}`, answer));
  const ask = {
    Id: 'answer',
    StepType: 'Activity',
    Inputs: { ActivityName: python(standInActivity(id)) },
    SelectNextStep: Object.fromEntries(
      answers.map((_, index) => [`answer-${index}`, `step.Result == ${index}`]),
    ),
  };
  return { Id: id, Description: 'Stands in for a sub-workflow', Steps: [ask, ...steps] };
}

function answerStep(id: string, answer: Answer): JsonObject {
  if ('fail' in answer) {
    const inputs = {
      Message: python(messageOfFailure(answer.fail)),
      Type: python(typeOfFailure(answer.fail)),
    };
    return { Id: id, StepType: 'Fail', ErrorBehavior: 'Terminate', Inputs: inputs };
  }
  const data = 'result' in answer && isJsonObject(answer.result) ? answer.result : {};
  const outputs = Object.entries(data).map(([name, value]) => [name, python(value)]);
  return { Id: id, StepType: 'NoOp', Outputs: Object.fromEntries(outputs) as JsonObject };
}

/** The value as a literal. */
function python(value: Json): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(python).join(', ')}]`;
  if (!isJsonObject(value)) return writeJson(value);
  const pairs = Object.entries(value).map(([name, item]) => `${python(name)}: ${python(item)}`);
  return `{${pairs.join(', ')}}`;
}
