/** Keywords about objects. */
import { getField, isJsonObject, type Json, type JsonObject } from '../../engine/values/json.js';
import { Place } from './place.js';
import type { KeywordCompiler, KeywordTable } from './keyword.js';
import type { Check } from './validator.js';

/** Checks that apply to objects only. */
type ObjectCheck = (members: JsonObject, ...others: Rest) => boolean;
type Rest = Parameters<Check> extends [Json, ...infer Others] ? Others : never;

/** Names that are compared with a misspelled one. */
const NAMES_MAX = 100;

export const OBJECT_KEYWORDS: KeywordTable = {
  minProperties: (limit) =>
    objects(
      (members, place, run) =>
        Object.keys(members).length >= Number(limit) ||
        run.violate({ keyword: 'minProperties', expected: limit, value: members, place }),
    ),
  maxProperties: (limit) =>
    objects(
      (members, place, run) =>
        Object.keys(members).length <= Number(limit) ||
        run.violate({ keyword: 'maxProperties', expected: limit, value: members, place }),
    ),
  required: (names) =>
    objects((members, place, run) => {
      let isValid = true;
      for (const member of names as readonly string[]) {
        if (Object.hasOwn(members, member)) continue;
        isValid = run.violate(
          { keyword: 'required', expected: names, value: members, place },
          { member },
        );
      }
      return isValid;
    }),
  dependentRequired: dependentNames('dependentRequired'),
  propertyNames: (inner, _, compiler) => {
    const validator = compiler.validatorOf(inner);
    return objects((members, place, run) =>
      everyMember(members, run, (name) =>
        validator.validate(name, new Place(place, name, true), run, null),
      ),
    );
  },
  properties: (map, _, compiler) => {
    const validators = compiler.validatorsByName(map);
    return objects((members, place, run, evaluated) => {
      let isValid = true;
      for (const [name, validator] of validators) {
        const member = getField(members, name);
        if (member === undefined) continue;
        evaluated?.addName(name);
        if (validator.validate(member, new Place(place, name), run, null)) continue;
        if (run.isQuiet) return false;
        isValid = false;
      }
      return isValid;
    });
  },
  patternProperties: (map, _, compiler) => {
    const validators = compiler
      .validatorsByName(map)
      .map(([source, validator]) => [compiler.pattern(source), validator] as const);
    return objects((members, place, run, evaluated) =>
      everyMember(members, run, (name, member) => {
        let isValid = true;
        for (const [pattern, validator] of validators) {
          if (!pattern.test(name)) continue;
          evaluated?.addName(name);
          if (!validator.validate(member, new Place(place, name), run, null)) isValid = false;
        }
        return isValid;
      }),
    );
  },
  additionalProperties: (inner, schema, compiler) => {
    const validator = compiler.validatorOf(inner);
    const names = Object.keys(mapOf(schema, 'properties'));
    const named = new Set(names);
    const sources = Object.keys(mapOf(schema, 'patternProperties'));
    const patterns = sources.map((source) => compiler.pattern(source));
    const details = { names: names.slice(0, NAMES_MAX) };
    return objects((members, place, run, evaluated) => {
      evaluated?.addAllNames();
      return everyMember(members, run, (name, member) => {
        if (named.has(name) || patterns.some((pattern) => pattern.test(name))) return true;
        return validator.isNever
          ? run.violate(
              { keyword: 'additionalProperties', expected: false, value: member, place },
              { member: name, ...details },
            )
          : validator.validate(member, new Place(place, name), run, null);
      });
    });
  },
  dependentSchemas,
  dependencies: (map, schema, compiler) => {
    const entries = Object.entries(map as JsonObject);
    const part = (isOfNames: boolean): JsonObject =>
      Object.fromEntries(entries.filter(([, value]) => Array.isArray(value) === isOfNames));
    const names = dependentNames('dependencies')(part(true), schema, compiler);
    const schemas = dependentSchemas(part(false), schema, compiler);
    return (...args) => [names, schemas].every((check) => check?.(...args) !== false);
  },
};

function dependentNames(keyword: string): KeywordCompiler {
  return (map) => {
    const dependents = Object.entries(map as Readonly<Record<string, readonly string[]>>);
    return objects((members, place, run) => {
      let isValid = true;
      for (const [because, names] of dependents) {
        if (!Object.hasOwn(members, because)) continue;
        for (const member of names) {
          if (Object.hasOwn(members, member)) continue;
          isValid = run.violate(
            { keyword, expected: map, value: members, place },
            { member, because },
          );
        }
      }
      return isValid;
    });
  };
}

function dependentSchemas(...[map, , compiler]: Parameters<KeywordCompiler>): Check {
  const validators = compiler.validatorsByName(map);
  return objects((members, place, run, evaluated) => {
    let isValid = true;
    for (const [name, validator] of validators) {
      if (!Object.hasOwn(members, name)) continue;
      if (!validator.validate(members, place, run, evaluated)) isValid = false;
    }
    return isValid;
  });
}

export const UNEVALUATED_PROPERTIES: KeywordCompiler = (inner, _, compiler) => {
  const validator = compiler.validatorOf(inner);
  return objects((members, place, run, evaluated) => {
    const isValid = everyMember(members, run, (name, member) => {
      if (evaluated?.hasName(name) === true) return true;
      return validator.isNever
        ? run.violate(
            { keyword: 'unevaluatedProperties', expected: false, value: member, place },
            { member: name },
          )
        : validator.validate(member, new Place(place, name), run, null);
    });
    evaluated?.addAllNames();
    return isValid;
  });
};

function objects(check: ObjectCheck): Check {
  return (value, ...others) => !isJsonObject(value) || check(value, ...others);
}

/** Checks all members, so that all violations are found; only the first violation when nobody reads them. */
function everyMember(
  members: JsonObject,
  run: { readonly isQuiet: boolean },
  check: (name: string, member: Json) => boolean,
): boolean {
  let isValid = true;
  for (const [name, member] of Object.entries(members)) {
    if (check(name, member)) continue;
    if (run.isQuiet) return false;
    isValid = false;
  }
  return isValid;
}

function mapOf(schema: JsonObject, keyword: string): JsonObject {
  const map = getField(schema, keyword);
  return map !== undefined && isJsonObject(map) ? map : {};
}
