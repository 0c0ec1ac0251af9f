/** Keywords about lists. */
import { getField, type Json, type JsonObject } from '../../engine/values/json.js';
import { canonical } from './exact-numbers.js';
import { Place } from './place.js';
import type { KeywordCompiler, KeywordTable } from './keyword.js';
import type { Check } from './validator.js';

/** Checks that apply to lists only. */
type ListCheck = (items: readonly Json[], ...others: Rest) => boolean;
type Rest = Parameters<Check> extends [Json, ...infer Others] ? Others : never;

export const LIST_KEYWORDS: KeywordTable = {
  minItems: (limit) =>
    lists(
      (items, place, run) =>
        items.length >= Number(limit) ||
        run.violate({ keyword: 'minItems', expected: limit, value: items, place }),
    ),
  maxItems: (limit) =>
    lists(
      (items, place, run) =>
        items.length <= Number(limit) ||
        run.violate({ keyword: 'maxItems', expected: limit, value: items, place }),
    ),
  uniqueItems: (isUnique) =>
    isUnique === true
      ? lists(
          (items, place, run) =>
            areUnique(items) ||
            run.violate({ keyword: 'uniqueItems', expected: true, value: items, place }),
        )
      : null,
  prefixItems: (schemas, _, compiler) => {
    const validators = compiler.validatorsOf(schemas);
    return lists((items, place, run, evaluated) => {
      evaluated?.addItemsBefore(validators.length);
      let isValid = true;
      for (const [index, validator] of validators.entries()) {
        if (index >= items.length) break;
        const item = items[index] as Json;
        if (!validator.validate(item, new Place(place, index), run, null)) isValid = false;
      }
      return isValid;
    });
  },
  items: (inner, schema, compiler) => {
    const validator = compiler.validatorOf(inner);
    const first = prefixLength(schema);
    return lists((items, place, run, evaluated) => {
      evaluated?.addAllItems();
      if (validator.isNever) {
        return (
          items.length <= first ||
          run.violate({ keyword: 'items', expected: first, value: items, place })
        );
      }
      let isValid = true;
      for (let index = first; index < items.length; index += 1) {
        const item = items[index] as Json;
        if (validator.validate(item, new Place(place, index), run, null)) continue;
        if (run.isQuiet) return false;
        isValid = false;
      }
      return isValid;
    });
  },
  contains: compileContains,
};

export const UNEVALUATED_ITEMS: KeywordCompiler = (inner, _, compiler) => {
  const validator = compiler.validatorOf(inner);
  return lists((items, place, run, evaluated) => {
    let isValid = true;
    for (const [index, item] of items.entries()) {
      if (evaluated?.hasItem(index) === true) continue;
      const own = new Place(place, index);
      const fits = validator.isNever
        ? run.violate({ keyword: 'unevaluatedItems', expected: false, value: item, place: own })
        : validator.validate(item, own, run, null);
      if (fits) continue;
      if (run.isQuiet) return false;
      isValid = false;
    }
    evaluated?.addAllItems();
    return isValid;
  });
};

function compileContains(...[inner, schema, compiler]: Parameters<KeywordCompiler>): Check {
  const validator = compiler.validatorOf(inner);
  const least = Number(getField(schema, 'minContains') ?? 1);
  const most = Number(getField(schema, 'maxContains') ?? Infinity);
  return lists((items, place, run, evaluated) => {
    let found = 0;
    run.beginQuiet();
    for (const [index, item] of items.entries()) {
      if (!validator.validate(item, new Place(place, index), run, null)) continue;
      found += 1;
      evaluated?.addItem(index);
      // Who has found enough need not look further, unless somebody counts.
      if (evaluated === null && found >= least && most === Infinity) break;
    }
    run.endQuiet();
    if (found < least)
      return run.violate({ keyword: 'contains', expected: least, value: items, place });
    return (
      found <= most ||
      run.violate({ keyword: 'contains', expected: most, value: items, place }, { isTooMany: true })
    );
  });
}

function lists(check: ListCheck): Check {
  return (value, ...others) => !Array.isArray(value) || check(value as readonly Json[], ...others);
}

function prefixLength(schema: JsonObject): number {
  const prefix = getField(schema, 'prefixItems');
  return Array.isArray(prefix) ? prefix.length : 0;
}

function areUnique(items: readonly Json[]): boolean {
  const seen = new Set<string>();
  return items.every((item) => seen.size < seen.add(canonical(item)).size);
}
