/** Finds runs by a text, piece by piece: the server searches older runs on request. */
import type { FoundWorkflow, StepwrightClient, WorkflowMatch } from '@stepwright/sdk';

/** The results so far. */
export interface TextSearch {
  readonly text: string;
  readonly items: readonly FoundWorkflow[];
  readonly exact: boolean;
  readonly partsFrom: string | null;
  /** Null: all runs were searched. */
  readonly nextCursor: string | null;
}

export type Found =
  | { readonly kind: 'run'; readonly id: string }
  | { readonly kind: 'definition'; readonly id: string }
  | { readonly kind: 'reference'; readonly text: string }
  | { readonly kind: 'runs'; readonly search: TextSearch };

/** No id, reference or value is longer. */
const TEXT_LENGTH_MAX = 256;
/** Maximum number of automatic continuations of a search without results. The server takes up to 0.3 s for each. */
const PIECES_MAX = 20;

export interface Way {
  readonly client: StepwrightClient;
  readonly signal: AbortSignal;
  /** Called after each piece. */
  readonly onPiece: (search: TextSearch) => void;
}

/** If several match, a run takes precedence over a definition, and a definition over a reference. */
export async function findText(way: Way, text: string): Promise<Found> {
  const none = { text, items: [], exact: true, partsFrom: null, nextCursor: null };
  if (text.length > TEXT_LENGTH_MAX) return { kind: 'runs', search: none };
  const { definitionId, ...findings } = await way.client.workflows.find(text, {
    signal: way.signal,
  });
  const { items } = findings;
  const equals = (of: WorkflowMatch['of']): FoundWorkflow | undefined =>
    items.find(({ matches }) =>
      matches.some((match) => match.of === of && match.relation === 'equal'),
    );
  const run = equals('id');
  if (run !== undefined) return { kind: 'run', id: run.workflow.workflowId };
  if (definitionId !== null) return { kind: 'definition', id: definitionId };
  const isElsewhere = items.some(({ matches: [closest] }) => closest?.of !== 'reference');
  if (equals('reference') !== undefined && !isElsewhere) return { kind: 'reference', text };
  const search = { text, ...findings };
  return {
    kind: 'runs',
    search: items.length > 0 ? search : await searchOlder(way, search, PIECES_MAX - 1),
  };
}

/** Goes on until it has found something, has searched all runs, or has taken long enough. */
export async function searchOlder(
  { client, onPiece, signal }: Way,
  before: TextSearch,
  piecesMax: number = PIECES_MAX,
): Promise<TextSearch> {
  let search = before;
  for (let left = piecesMax; left > 0 && search.nextCursor !== null; left -= 1) {
    onPiece(search);
    const more = await client.workflows.find(search.text, { cursor: search.nextCursor, signal });
    const known = new Set(search.items.map(({ workflow }) => workflow.workflowId));
    const found = more.items.filter(({ workflow }) => !known.has(workflow.workflowId));
    search = { ...more, text: search.text, items: [...search.items, ...found] };
    if (found.length > 0) break;
  }
  return search;
}
