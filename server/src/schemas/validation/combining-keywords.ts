/** Keywords that apply other schemas to the same value: references, alternatives and conditions. */
import { getField, isJsonObject } from '../../engine/values/json.js';
import { Evaluated } from './evaluated.js';
import type { KeywordCompiler, KeywordTable } from './keyword.js';
import { EVERYTHING, type Check, type Validator } from './validator.js';

export const COMBINING_KEYWORDS: KeywordTable = {
  $ref: (reference, schema, compiler) => {
    const validator = compiler.referredTo(schema, reference as string);
    return (...args) => validator.validate(...args);
  },
  $dynamicRef: (reference, schema, compiler) => {
    const first = compiler.referredTo(schema, reference as string);
    const anchor = compiler.dynamicAnchor(schema, reference as string);
    if (anchor === null) return (...args) => first.validate(...args);
    return (value, place, run, evaluated) => {
      const target = run.dynamicTarget(anchor);
      const validator = isJsonObject(target) ? compiler.validatorOf(target) : first;
      return validator.validate(value, place, run, evaluated);
    };
  },
  not: (inner, _, compiler) => {
    const validator = compiler.validatorOf(inner);
    return (value, place, run) =>
      !tries(validator, value, place, run, null) ||
      run.violate({ keyword: 'not', expected: null, value, place });
  },
  anyOf: (schemas, _, compiler) => {
    const validators = compiler.validatorsOf(schemas);
    return (value, place, run, evaluated) => {
      let isValid = false;
      for (const validator of validators) {
        if (!tries(validator, value, place, run, evaluated)) continue;
        isValid = true;
        // Others count only for what they evaluate.
        if (evaluated === null) break;
      }
      return (
        isValid || run.violate({ keyword: 'anyOf', expected: validators.length, value, place })
      );
    };
  },
  oneOf: (schemas, _, compiler) => {
    const validators = compiler.validatorsOf(schemas);
    return (value, place, run, evaluated) => {
      let fitting = 0;
      for (const validator of validators) {
        if (tries(validator, value, place, run, evaluated)) fitting += 1;
        if (fitting > 1) break;
      }
      const details = { isTooMany: fitting > 1 };
      return (
        fitting === 1 ||
        run.violate({ keyword: 'oneOf', expected: validators.length, value, place }, details)
      );
    };
  },
  allOf: (schemas, _, compiler) => {
    const validators = compiler.validatorsOf(schemas);
    return (value, place, run, evaluated) => {
      let isValid = true;
      for (const validator of validators) {
        if (validator.validate(value, place, run, evaluated)) continue;
        if (run.isQuiet) return false;
        isValid = false;
      }
      return isValid;
    };
  },
  if: compileCondition,
};

function compileCondition(...[inner, schema, compiler]: Parameters<KeywordCompiler>): Check {
  const condition = compiler.validatorOf(inner);
  const branchOf = (keyword: string): Validator => {
    const branch = getField(schema, keyword);
    return branch === undefined ? EVERYTHING : compiler.validatorOf(branch);
  };
  const [positive, negative] = [branchOf('then'), branchOf('else')];
  return (value, place, run, evaluated) => {
    const branch = tries(condition, value, place, run, evaluated) ? positive : negative;
    return branch.validate(value, place, run, evaluated);
  };
}

/** Whether a value fits. What a schema has evaluated counts only if it does. */
function tries(
  validator: Validator,
  ...[value, place, run, evaluated]: Parameters<Check>
): boolean {
  const own = evaluated === null ? null : new Evaluated();
  run.beginQuiet();
  const fits = validator.validate(value, place, run, own);
  run.endQuiet();
  if (fits && own !== null) evaluated?.add(own);
  return fits;
}
