/** Conditions on the tags and the index fields of instances, and what they mean. */
import { elementsOf, type IndexFields, type IndexValue } from '../../engine/values/index-fields.js';
import type { Tags } from '../../engine/values/tags.js';
import { termValue } from '../term-values.js';
import { compareText } from '../text-order.js';

/** `^=`: starts with. */
export type IndexOperator = '=' | '!=' | '<' | '<=' | '>' | '>=' | '^=';

export interface IndexCondition {
  readonly of: 'tag' | 'field';
  readonly name: string;
  readonly operator: IndexOperator;
  /**
   * The value in each type as which it can be read: `7` is a number and text. An element is compared with the one of its
   * own type. Of `^=`: only text.
   */
  readonly values: readonly IndexValue[];
}

/** An instance without the field, or without an element in it, fulfills no condition on it. */
export function fulfills(
  { index, tags }: { readonly index: IndexFields; readonly tags: Tags },
  condition: IndexCondition,
): boolean {
  const source = condition.of === 'tag' ? tags : index;
  const value = Object.hasOwn(source, condition.name) ? source[condition.name] : undefined;
  if (value === undefined) return false;
  const elements = elementsOf(value);
  const some = (test: (element: IndexValue, value: IndexValue) => boolean): boolean =>
    elements.some((element) => condition.values.some((each) => test(element, each)));
  const compares = (test: (order: number) => boolean) =>
    some((element, each) => {
      const order = compareValues(element, each);
      return order !== null && test(order);
    });
  switch (condition.operator) {
    case '=':
      return some(isEqual);
    case '!=':
      return elements.length > 0 && !some(isEqual);
    case '^=':
      return some(startsWith);
    case '<':
      return compares((order) => order < 0);
    case '<=':
      return compares((order) => order <= 0) || some(isEqual);
    case '>':
      return compares((order) => order > 0);
    case '>=':
      return compares((order) => order >= 0) || some(isEqual);
  }
}

function isEqual(left: IndexValue, right: IndexValue): boolean {
  if (isNumber(left) && isNumber(right)) return compareNumbers(left, right) === 0;
  return left === right;
}

/** Null: values of these types have no order. */
function compareValues(left: IndexValue, right: IndexValue): number | null {
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right);
  return isNumber(left) && isNumber(right) ? compareNumbers(left, right) : null;
}

function isNumber(value: IndexValue): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** As the indexes of the databases do: a float counts as the shortest decimal number that is read as it. */
function compareNumbers(left: number | bigint, right: number | bigint): number {
  if (typeof left === typeof right) return left < right ? -1 : left > right ? 1 : 0;
  const [first, second] = [termValue(left), termValue(right)];
  return first < second ? -1 : first > second ? 1 : 0;
}

function startsWith(element: IndexValue, start: IndexValue): boolean {
  return typeof element === 'string' && typeof start === 'string' && element.startsWith(start);
}
