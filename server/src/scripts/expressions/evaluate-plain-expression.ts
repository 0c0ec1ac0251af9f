/** Evaluates a plain expression. For the guarantees, see plain-expression.ts. */
import { isCertainlyFloat } from '../../engine/values/exact-json.js';
import { getField, isJsonObject, type Json, type JsonObject } from '../../engine/values/json.js';
import type { EvaluationVariables } from '../script-runtime.js';
import type {
  ComparisonOperator,
  PathKey,
  PlainExpression,
  PlainPath,
} from './plain-expression.js';
import {
  areEqual,
  calculate,
  contains,
  isInOrder,
  isTrue,
  lengthOf,
  negate,
} from './python-operators.js';

export interface PlainVariables extends EvaluationVariables {
  readonly environment: JsonObject;
}

/** @returns undefined if the expression needs Python */
export function evaluatePlain(
  expression: PlainExpression,
  variables: PlainVariables,
): Json | undefined {
  switch (expression.kind) {
    case 'constant':
      return expression.value;
    case 'path':
      return readPath(expression, variables);
    case 'list':
      // A list occurs only after `in`; elsewhere, Python evaluates it.
      return undefined;
    case 'negative':
      return map(evaluatePlain(expression.operand, variables), negate);
    case 'length':
      return map(evaluatePlain(expression.operand, variables), lengthOf);
    case 'not':
      return map(evaluateTruth(expression.operand, variables), (truth) => !truth);
    case 'arithmetic':
      return evaluateArithmetic(expression, variables);
    case 'comparison':
      return evaluateComparison(expression, variables);
    case 'and':
    case 'or':
      return evaluateLogic(expression, variables);
    case 'conditional': {
      const truth = evaluateTruth(expression.condition, variables);
      if (truth === undefined) return undefined;
      return evaluatePlain(truth ? expression.then : expression.otherwise, variables);
    }
  }
}

type Kind<Name extends PlainExpression['kind']> = Extract<PlainExpression, { kind: Name }>;

function map<In, Out>(value: In | undefined, apply: (value: In) => Out): Out | undefined {
  return value === undefined ? undefined : apply(value);
}

function evaluateTruth(
  expression: PlainExpression,
  variables: PlainVariables,
): boolean | undefined {
  return map(evaluatePlain(expression, variables), isTrue);
}

function evaluateArithmetic(
  { left, operator, right }: Kind<'arithmetic'>,
  variables: PlainVariables,
): Json | undefined {
  const leftValue = evaluatePlain(left, variables);
  if (leftValue === undefined) return undefined;
  return map(evaluatePlain(right, variables), (value) => calculate(leftValue, operator, value));
}

/** Returns the deciding operand itself, not its truth value. */
function evaluateLogic(
  { kind, left, right }: Kind<'and' | 'or'>,
  variables: PlainVariables,
): Json | undefined {
  const value = evaluatePlain(left, variables);
  const truth = map(value, isTrue);
  if (truth === undefined) return undefined;
  return truth === (kind === 'and') ? evaluatePlain(right, variables) : value;
}

function evaluateComparison(
  { first, links }: Kind<'comparison'>,
  variables: PlainVariables,
): boolean | undefined {
  let left = evaluatePlain(first, variables);
  let holds: boolean | undefined = true;
  for (const { operator, operand } of links) {
    const right = evaluateOperand(operator, operand, variables);
    if (left === undefined || right === undefined) return undefined;
    holds = compare(left, operator, right);
    if (holds !== true) return holds;
    left = right;
  }
  return holds;
}

function evaluateOperand(
  operator: ComparisonOperator,
  operand: PlainExpression,
  variables: PlainVariables,
): Json | undefined {
  const isLookedIn = operator === 'in' || operator === 'not in';
  if (!isLookedIn || operand.kind !== 'list') return evaluatePlain(operand, variables);
  const values: Json[] = [];
  for (const item of operand.items) {
    const value = evaluatePlain(item, variables);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return values;
}

function compare(left: Json, operator: ComparisonOperator, right: Json): boolean | undefined {
  const not = (truth: boolean): boolean => !truth;
  switch (operator) {
    case '==':
      return areEqual(left, right);
    case '!=':
      return map(areEqual(left, right), not);
    case 'is':
      return left === right;
    case 'is not':
      return left !== right;
    case 'in':
      return contains(right, left);
    case 'not in':
      return map(contains(right, left), not);
    case '<':
    case '<=':
    case '>':
    case '>=':
      return isInOrder(left, operator, right);
  }
}

function readPath({ variable, keys }: PlainPath, variables: PlainVariables): Json | undefined {
  let value: Json | undefined = variables[variable];
  for (const key of keys) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = readMember(value, key, variables);
  }
  // The caller changes fields of `data` later; a value that was read before must not change with them.
  if (keys.length === 0 && isJsonObject(value)) return { ...value };
  // JSON.parse reads 1e999 as Infinity, which is sent to Python as null.
  return typeof value === 'number' && !Number.isFinite(value) ? undefined : value;
}

function readMember(
  container: readonly Json[] | JsonObject,
  key: PathKey,
  variables: PlainVariables,
): Json | undefined {
  const name = typeof key === 'object' ? readPath(key, variables) : key;
  if (!isList(container)) return typeof name === 'string' ? getField(container, name) : undefined;
  if (typeof name !== 'number' || isCertainlyFloat(name)) return undefined;
  return container[name < 0 ? container.length + name : name];
}

function isList(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value);
}
