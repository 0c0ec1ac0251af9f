/** Builds conditions on tags and index fields, for the filter `where`. */

/** A value to compare with. A string and a number with the same digits are different values. */
export type ConditionValue = string | number | bigint | boolean;

/**
 * Conditions on one tag or index field. Each method returns the text of a condition. An index field that is a list matches a
 * condition if one of its elements does; `isNot` matches if none of its elements is the value.
 */
export interface ConditionsOn {
  /** Equal to the value. */
  is(value: ConditionValue): string;
  /** Present, and not equal to the value. */
  isNot(value: ConditionValue): string;
  /** Less than the value: numbers compare with numbers, text with text. */
  below(value: string | number | bigint): string;
  atMost(value: string | number | bigint): string;
  above(value: string | number | bigint): string;
  atLeast(value: string | number | bigint): string;
  /** Text that starts with this text. */
  startsWith(text: string): string;
}

/**
 * Conditions on an index field, declared in the definition's `Index`.
 *
 * @throws TypeError for a name that no index field can have
 *
 * @example
 * ```ts
 * import { field } from '@stepwright/sdk';
 *
 * const where = [field('name').is('Ada'), field('age').atLeast(18)];
 * for await (const { workflowId, index } of client.workflows.list({ where })) {
 *   console.log(workflowId, index['age']);
 * }
 * ```
 */
export function field(name: string): ConditionsOn {
  if (name.startsWith('tag.')) throw new TypeError(`'${name}' names a tag: use tag()`);
  return conditionsOn(name);
}

/**
 * Conditions on a tag. The values of tags are text.
 *
 * @throws TypeError for a name that cannot be searched for
 *
 * @example
 * ```ts
 * import { tag } from '@stepwright/sdk';
 *
 * const { count } = await client.workflows.count({ where: [tag('team').isNot('billing')] });
 * console.log(count);
 * ```
 */
export function tag(name: string): ConditionsOn {
  if (name === '') throw new TypeError('The name of a tag must not be empty');
  return conditionsOn(`tag.${name}`);
}

const OPERATOR = /[=<>]/;

function conditionsOn(name: string): ConditionsOn {
  if (name === '') throw new TypeError('The name of an index field must not be empty');
  if (OPERATOR.test(name) || /[!^]$/.test(name)) {
    throw new TypeError(`'${name}' contains an operator: such a name cannot be searched for`);
  }
  return {
    is: (value) => `${name}=${textOf(value)}`,
    isNot: (value) => `${name}!=${textOf(value)}`,
    below: (value) => `${name}<${textOf(value)}`,
    atMost: (value) => `${name}<=${textOf(value)}`,
    above: (value) => `${name}>${textOf(value)}`,
    atLeast: (value) => `${name}>=${textOf(value)}`,
    startsWith: (text) => `${name}^=${textOf(text)}`,
  };
}

/** Text is quoted, so that it is not read as a number. */
function textOf(value: ConditionValue): string {
  if (typeof value === 'string') return `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new TypeError(`${value} is not a value that a run can have`);
  }
  return String(value);
}
