/** The queue of a reference: its open instances, in the order in which they count. */
import type { QueuePosition } from '../records/instances.js';
import { decodeText, encodeText } from '../text-codec.js';
import { compareText } from '../text-order.js';
import type { MongoContext } from './mongo-context.js';

/** Also if it has begun. */
const HAS_ENTERED = { place: { $in: ['waiting' as const, 'held' as const] } };

type Position = Pick<QueuePosition, 'at' | 'id'>;

/**
 * The id of the last instance before these positions: `started` for those that count from their start, `later` for the
 * others.
 */
export async function lastInQueue(
  { instances }: Pick<MongoContext, 'instances'>,
  { definitionId, reference }: Pick<QueuePosition, 'definitionId' | 'reference'>,
  before: { readonly started: Position; readonly later: Position; readonly dueBy?: number },
): Promise<string | null> {
  const lastOf = async (
    field: 'startTime' | 'countsFrom',
    { at, id }: Position,
  ): Promise<readonly Position[]> => {
    const filter = {
      reference: encodeText(reference),
      definitionId: encodeText(definitionId),
      openChangedAt: { $exists: true },
      status: { $in: ['Runnable' as const, 'Suspended' as const] },
      $and: [
        { countsFrom: { $exists: field === 'countsFrom' } },
        { [field]: { $lte: at } },
        { $or: [{ [field]: { $lt: at } }, { _id: { $lt: encodeText(id) } }] },
        ...(field === 'countsFrom' && before.dueBy !== undefined
          ? [
              {
                $or: [
                  { countsFrom: { $lte: before.dueBy } },
                  { queued: true as const },
                  HAS_ENTERED,
                ],
              },
            ]
          : []),
      ],
    };
    const found = await instances
      .find(filter, { projection: { [field]: 1 } })
      .sort({ [field]: -1, _id: -1 })
      .limit(1)
      .toArray();
    return found.map((document) => ({ at: document[field] ?? 0, id: decodeText(document._id) }));
  };
  const found = [
    ...(await lastOf('startTime', before.started)),
    ...(await lastOf('countsFrom', before.later)),
  ];
  const [last] = found.sort((a, b) => b.at - a.at || compareText(b.id, a.id));
  return last?.id ?? null;
}
