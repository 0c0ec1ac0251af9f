/**
 * The data that instances were started with. A long input is a document of its own, because the database writes whole documents.
 *
 * Invariants:
 *  IN1 A long input is inserted before its instance, under an id that only this attempt uses and that the instance names. So what
 *      a refused start has left is never shown for a later start with the same id.
 *  IN2 A start that is refused removes its input. If its process died, `sweepInputs` does.
 */
import { randomUUID } from 'node:crypto';
import type { InsertInstance, InstanceCommit } from '../records/instances.js';
import type { InputDocument, InstanceDocument } from './documents.js';
import { instanceDocumentOf, isLongInput } from './instance-documents.js';
import type { MongoContext, SweepPosition } from './mongo-context.js';
import { packText } from './packed-text.js';
import { encodeText } from '../text-codec.js';

export type InputContext = Pick<MongoContext, 'inputs' | 'instances'>;

/** The id of a long input. An imported one has that of its instance. */
export function inputIdOf({ _id, inputId }: Pick<InstanceDocument, '_id' | 'inputId'>): string {
  return inputId ?? _id;
}

/** The document of a new instance, with its input; a long input is inserted now. */
export async function withInput(
  context: InputContext,
  { input, record }: InsertInstance,
): Promise<InstanceDocument> {
  const document = instanceDocumentOf(record);
  if (input === undefined) return document;
  return { ...document, ...(await inputFieldsOf(context, { input, ...record })) };
}

type InputFields = Pick<InstanceDocument, 'input' | 'inputId'>;

/** A long input is inserted now. */
async function inputFieldsOf(
  { inputs }: Pick<InputContext, 'inputs'>,
  { id, input, lastChangeAt: at }: Pick<InstanceCommit, 'id' | 'lastChangeAt'> & { input: string },
): Promise<InputFields> {
  if (!isLongInput(input)) return { input: packText(input) };
  const instanceId = encodeText(id);
  const inputId = `${instanceId}:${randomUUID()}`;
  await inputs.insertOne({ _id: inputId, instanceId, at, body: packText(input) });
  return { inputId };
}

/** The fields of a commit that replaces the input. `sweepInputs` removes the former one, and that of a lost commit. */
export async function inputChangeOf(
  context: Pick<InputContext, 'inputs'>,
  { id, lastChangeAt, window }: InstanceCommit,
): Promise<{ readonly set: InputFields; readonly unset: Readonly<Record<string, ''>> }> {
  const input = window?.input;
  if (input === undefined) return { set: {}, unset: {} };
  const set = await inputFieldsOf(context, { id, input, lastChangeAt });
  return { set, unset: set.input === undefined ? { input: '' } : { inputId: '' } };
}

/** The instance wasn't inserted. */
export async function takeBackInput(
  { inputs }: InputContext,
  { inputId }: InstanceDocument,
): Promise<void> {
  if (inputId !== undefined) await inputs.deleteOne({ _id: inputId });
}

/** Looks at the next `limit` inputs, and removes those whose start was interrupted before this time. */
export async function sweepInputs(
  { inputs, instances }: InputContext,
  position: SweepPosition,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<void> {
  const found = await inputs
    .find(position.after === null ? {} : { _id: { $gt: position.after } })
    .project<Pick<InputDocument, '_id' | 'instanceId' | 'at'>>({ instanceId: 1, at: 1 })
    .sort({ _id: 1 })
    .limit(limit)
    .toArray();
  position.after = found.length < limit ? null : (found.at(-1)?._id ?? null);
  const old = found.filter(({ at = 0 }) => at < before);
  if (old.length === 0) return;
  const owners = await instances
    .find({ _id: { $in: old.map(({ _id, instanceId = _id }) => instanceId) } })
    .project<Pick<InstanceDocument, '_id' | 'inputId'>>({ inputId: 1 })
    .toArray();
  const used = new Set(owners.map(inputIdOf));
  const unused = old.map(({ _id }) => _id).filter((id) => !used.has(id));
  if (unused.length > 0) await inputs.deleteMany({ _id: { $in: unused } });
}
