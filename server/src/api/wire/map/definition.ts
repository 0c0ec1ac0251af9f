/** Converts definitions between host and wire. */
import type { Request } from 'express';
import type * as host from '../../../runtime/definitions/definition-types.js';
import type * as wire from '../models/definition.js';
import { AppError } from '../../../base/errors.js';
import { nameProblem, ORIGIN_LENGTH_MAX } from '../../../engine/values/names.js';
import { itemsWithPosition } from './problem-items.js';
import { toWireTime } from './time.js';

/** An empty origin counts as absent, because scripts pass variables that are not set. @throws AppError `invalid_request` */
export function toOrigin(origin: string | undefined): string | null {
  if (origin === undefined || origin === '') return null;
  const problem = nameProblem(origin, ORIGIN_LENGTH_MAX);
  if (problem === null) return origin;
  throw new AppError('invalid_request', `The origin ${problem}`, { parameter: 'origin' });
}

export function toRegisteredDefinition(
  request: Request,
  { id, version, warnings }: host.RegisteredDefinition,
): wire.RegisteredDefinition {
  return { id, version, warnings: itemsWithPosition(request, warnings) };
}

export function toDefinitionCheck(
  request: Request,
  { valid, errors, triggers, warnings }: host.DefinitionCheck,
): wire.DefinitionCheck {
  return {
    valid,
    errors: itemsWithPosition(request, errors),
    warnings: itemsWithPosition(request, warnings),
    triggers: triggers.map(({ name, nextTimes }) => ({
      name,
      nextTimes: nextTimes.map(toWireTime),
    })),
  };
}

export function toDefinitionDocument(found: host.DefinitionView): wire.DefinitionDocument {
  const { id, version } = found.summary;
  const document = { id, version, ...found.document };
  document.version = version;
  // The server stored this document in its canonical form, which the wire type describes.
  return document as unknown as wire.DefinitionDocument;
}

export function toDefinitionSummary(summary: host.DefinitionSummary): wire.DefinitionSummary {
  const { createdAt, ...others } = summary;
  return { ...others, createdAt: toWireTime(createdAt) };
}
