/** Counts of failed instances: see records/failures.ts. */
import type { Filter } from 'mongodb';
import { failureIn } from '../json-columns.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { FAILURE_HOURS, HOUR_MS, sectionMaxOf, type FailureFilter } from '../records/failures.js';
import type { InstancePosition } from '../records/instance-lists.js';
import type { InstanceStatus } from '../records/instances.js';
import { decodeText, encodeText } from '../text-codec.js';
import { FAILURES_INDEX } from './collections.js';
import type { InstanceDocument } from './documents.js';
import { definitionConditions } from './instance-lists.js';
import type { MongoContext } from './mongo-context.js';
import { decodeOptional } from './packed-text.js';
import { filterOf } from './term-fields.js';

interface CountedDocument {
  readonly _id: {
    readonly key: string;
    readonly status: InstanceStatus;
    readonly hoursAgo: number;
  };
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly example: string;
}

const NEWEST_FIRST = { errorAt: -1, _id: -1 } as const;

export async function countFailures(
  context: MongoContext,
  [{ after, filter, now }]: OperationArguments<'countFailures'>,
): Promise<OperationResult<'countFailures'>> {
  const { instances } = context;
  const countedTo = await sectionEnd(context, filter, after);
  const hoursAgo = { $floor: { $divide: [{ $subtract: [now, '$errorAt'] }, HOUR_MS] } };
  const counted = await instances
    .aggregate<CountedDocument>(
      [
        {
          $match: { $and: [...entriesOf(filter, after), ...upTo(countedTo), ...groupsOf(filter)] },
        },
        { $sort: NEWEST_FIRST },
        { $project: { errorAt: 1, failureKey: 1, status: 1, failingSince: 1, failingErrorAt: 1 } },
        {
          $group: {
            _id: {
              key: '$failureKey',
              status: '$status',
              hoursAgo: { $min: [{ $max: [hoursAgo, 0] }, FAILURE_HOURS] },
            },
            count: { $sum: 1 },
            firstAt: {
              $min: {
                $cond: [{ $eq: ['$failingErrorAt', '$errorAt'] }, '$failingSince', '$errorAt'],
              },
            },
            lastAt: { $max: '$errorAt' },
            example: { $first: '$_id' },
          },
        },
      ],
      // Conditions must not make MongoDB walk all instances that fulfill them.
      filter.where === undefined && filter.definitionPrefixes === undefined
        ? {}
        : { hint: FAILURES_INDEX },
    )
    .toArray();
  const failures = await failuresOf(
    context,
    counted.map(({ example }) => example),
  );
  const counts = counted.flatMap(({ _id: { hoursAgo, key, status }, example, ...numbers }) => {
    const found = failures.get(example);
    const failure = failureIn(key, decodeOptional(found?.failure ?? null));
    // An instance may have been removed in between.
    if (found === undefined || failure === null) return [];
    const definitionId = decodeText(found.definitionId);
    return [{ ...numbers, definitionId, failure, status, hoursAgo, example: decodeText(example) }];
  });
  return { counts, countedTo };
}

async function failuresOf(
  { instances }: MongoContext,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Pick<InstanceDocument, 'definitionId' | 'failure'>>> {
  const projection = { definitionId: 1, failure: 1 } as const;
  const found = await instances.find({ _id: { $in: [...ids] } }, { projection }).toArray();
  return new Map(found.map((document) => [document._id, document]));
}

/** Null: fewer entries are left than one call counts. */
async function sectionEnd(
  { instances }: MongoContext,
  filter: FailureFilter,
  after: InstancePosition | null,
): Promise<InstancePosition | null> {
  const [last] = await instances
    .find({ $and: [...entriesOf(filter, after)] }, { projection: { errorAt: 1 } })
    .sort(NEWEST_FIRST)
    .skip(sectionMaxOf(filter) - 1)
    .limit(1)
    .toArray();
  return last === undefined ? null : { time: last.errorAt ?? 0, id: decodeText(last._id) };
}

/** The first condition selects the index. */
function entriesOf(
  { failedFrom, failedTo }: FailureFilter,
  after: InstancePosition | null,
): readonly Filter<InstanceDocument>[] {
  return [
    { failureKey: { $exists: true } },
    ...(failedFrom === undefined ? [] : [{ errorAt: { $gte: failedFrom } }]),
    ...(failedTo === undefined ? [] : [{ errorAt: { $lt: failedTo } }]),
    ...(after === null
      ? []
      : [
          { errorAt: { $lte: after.time } },
          { $or: [{ errorAt: { $lt: after.time } }, { _id: { $lt: encodeText(after.id) } }] },
        ]),
  ];
}

function upTo(last: InstancePosition | null): readonly Filter<InstanceDocument>[] {
  if (last === null) return [];
  return [
    { errorAt: { $gte: last.time } },
    { $or: [{ errorAt: { $gt: last.time } }, { _id: { $gte: encodeText(last.id) } }] },
  ];
}

function groupsOf(filter: FailureFilter): readonly Filter<InstanceDocument>[] {
  const { keyPrefix, status, where = [] } = filter;
  return [
    ...definitionConditions(filter),
    ...(keyPrefix === undefined
      ? []
      : // All keys are hexadecimal.
        [{ failureKey: { $gte: keyPrefix, $lt: `${keyPrefix}g` } }]),
    ...(status === undefined ? [] : [{ status }]),
    ...where.map(filterOf),
  ];
}
