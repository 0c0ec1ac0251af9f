/**
 * What tsoa's routes validate with. tsoa copies the value of a union by way of JSON, which has no `bigint`: what the body readers
 * make of a large integer. No union of the wire holds data of the caller, so a copy may be inexact.
 */
import { ExpressTemplateService, ValidationService } from '@tsoa/runtime';

export class BodyTemplateService extends ExpressTemplateService {
  protected override validationService = new BodyValidation(this.models, this.config);
}

class BodyValidation extends ValidationService {
  override validateUnion(
    ...[name, value, ...rest]: Parameters<ValidationService['validateUnion']>
  ): unknown {
    return super.validateUnion(name, withoutBigInts(value), ...rest) as unknown;
  }
}

function withoutBigInts(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(withoutBigInts);
  if (typeof value !== 'object' || value === null) return value;
  // `fromEntries` keeps members such as `__proto__`.
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withoutBigInts(member)]),
  );
}
