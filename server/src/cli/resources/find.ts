/** `stepwright find`: finds runs by a text in their id, reference, tags or index fields. */
import type {
  FoundWorkflow,
  MatchRelation,
  WorkflowFindings,
  WorkflowMatch,
} from '../../api/wire/models/find.js';
import type { WorkflowSummary } from '../../api/wire/models/workflow.js';
import { withPage, type PageOptions } from '../connection/options.js';
import type { ServerClient } from '../connection/server-client.js';
import type { Output } from '../output/output.js';
import { plain } from '../output/plain-text.js';
import { RUN_COLUMNS } from '../output/runs.js';
import { fullTime } from '../output/times.js';
import { serverCommand, type Call } from './server-command.js';

const PAGE_SIZE_MAX = 100;
/** Each call takes the server up to 0.3 s. */
const PAGES_MAX = 50;

const RELATIONS: Readonly<Record<MatchRelation, string>> = {
  equal: '=',
  start: 'starts with',
  part: 'contains',
};

export const find = serverCommand({
  description: 'find runs by a text in their id, reference, tags or index fields',
  declare: (command) =>
    withPage(
      command.argument('<text>', 'a value, its beginning, or a part of it; case-sensitive'),
      20,
    ),
  run: async ({ connect, options, output }: Call<PageOptions>, text: string) => {
    const findings = await search(await connect(), text, options);
    output.result(findings, () => print(output, findings, text));
  },
});

function print(output: Output, findings: WorkflowFindings, text: string): void {
  const { definitionId, items } = findings;
  const why = new Map(
    items.map(({ matches: [closest], workflow }) => [
      workflow.workflowId,
      matchText(closest, text),
    ]),
  );
  if (items.length > 0) {
    const found = ({ workflowId }: WorkflowSummary): string => why.get(workflowId) ?? '';
    const runs = items.map(({ workflow }) => workflow);
    output.table(
      runs,
      RUN_COLUMNS.toSpliced(1, 0, { title: 'FOUND', text: found, canShrink: true }),
    );
  } else output.note('No runs were found.');
  if (definitionId !== null) {
    const id = plain(definitionId);
    output.note(`${id} is a definition; its runs: stepwright list --definition ${id}`);
  }
  noteRest(output, findings);
}

/** Searches progressively older runs until there are enough results or all runs were searched. */
async function search(
  client: ServerClient,
  text: string,
  { cursor, limit }: PageOptions,
): Promise<WorkflowFindings> {
  // A cursor belongs to its limit.
  const query = { text, limit: Math.min(limit, PAGE_SIZE_MAX) };
  const items: FoundWorkflow[] = [];
  let next = cursor;
  for (let pages = 1; ; pages += 1) {
    const page = await client.get<WorkflowFindings>('/api/workflow/find', {
      ...query,
      cursor: next,
    });
    items.push(...page.items);
    const isOver = page.nextCursor === null || pages === PAGES_MAX || items.length >= limit;
    if (isOver) return { ...page, items };
    next = page.nextCursor ?? undefined;
  }
}

function matchText(match: WorkflowMatch | undefined, text: string): string {
  if (match === undefined) return '';
  const { name, of, relation } = match;
  const where = of === 'tag' ? `tag ${name ?? ''}` : (name ?? of);
  return `${where} ${RELATIONS[relation]} ${text}`;
}

function noteRest(output: Output, { exact, items, nextCursor, partsFrom }: WorkflowFindings): void {
  if (!exact && items.length > 0) output.note('More runs may have this text; --limit shows more.');
  if (nextCursor === null || partsFrom === null) return;
  const time = fullTime(partsFrom, output.now);
  output.note(
    `Text inside values was searched in runs since ${time}. For older ones, add --cursor ${nextCursor}`,
  );
}
