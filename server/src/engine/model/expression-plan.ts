/**
 * The expressions of a set of inputs, outputs or selectors, and how their values are inserted.
 *
 * Plans are created once for each part of a definition (definitions are immutable) and cached with it.
 */
import type { StepDefinition } from './definition.js';
import type { InputValue } from './input-value.js';
import { setField, type Json, type JsonObject } from '../values/json.js';

export interface InputPlan {
  readonly sources: readonly string[];
  /** Whether an expression may read `secrets`. */
  readonly mayReadSecrets: boolean;
  /** The distinct names of secrets in the expressions. Only these can be read: data never selects a secret. */
  readonly secretNames: readonly string[];
  /** The inputs by name, from the values of `sources` in the same order. */
  build(values: readonly Json[]): JsonObject;
}

const SECRETS = /\bsecrets\b/;
const SECRET = /\bsecrets\s*(?:\.\s*(\w+)|\[\s*(["'])(\w+)\2\s*\])/g;

const inputPlans = new WeakMap<StepDefinition['inputs'], InputPlan>();

export function planInputs(inputs: StepDefinition['inputs']): InputPlan {
  let plan = inputPlans.get(inputs);
  if (plan === undefined) {
    const sources = inputs.flatMap(({ value }) => sourcesOf(value));
    plan = {
      sources,
      mayReadSecrets: sources.some((source) => SECRETS.test(source)),
      secretNames: [...new Set(sources.flatMap(secretsIn))],
      build(values) {
        const remaining = values[Symbol.iterator]();
        const built: JsonObject = {};
        for (const { name, value } of inputs) setField(built, name, valueOf(value, remaining));
        return built;
      },
    };
    inputPlans.set(inputs, plan);
  }
  return plan;
}

function secretsIn(source: string): readonly string[] {
  return [...source.matchAll(SECRET)].map(([, member, , key]) => member ?? key ?? '');
}

/** The one expression of an output, selector or condition, or its constant. */
export function requestOf(value: InputValue): { source: string } | { constant: Json } {
  return value.kind === 'expression' ? { source: value.source } : { constant: constantOf(value) };
}

function sourcesOf(value: InputValue): string[] {
  switch (value.kind) {
    case 'constant':
      return [];
    case 'expression':
      return [value.source];
    case 'graph':
      return value.fields.flatMap(([, field]) => sourcesOf(field));
    case 'list':
      return value.items.flatMap(sourcesOf);
  }
}

function valueOf(value: InputValue, remaining: Iterator<Json>): Json {
  switch (value.kind) {
    case 'constant':
      return value.value;
    case 'expression': {
      const next = remaining.next();
      return next.done === true ? null : next.value;
    }
    case 'graph': {
      const built: JsonObject = {};
      for (const [key, field] of value.fields) setField(built, key, valueOf(field, remaining));
      return built;
    }
    case 'list':
      return value.items.map((item) => valueOf(item, remaining));
  }
}

function constantOf(value: InputValue): Json {
  return valueOf(value, [][Symbol.iterator]());
}
