/** Reads pages of the executions of a run that match a filter. */
import type { Page, StepExecution, StepFilter, StepwrightClient } from '@stepwright/sdk';

export const PAGE_SIZE = 50;
/** Maximum number of requests per page of a long run; the user decides whether to continue. */
const CALLS_PER_PAGE = 5;
/** A jump to an iteration must succeed, so it may search further: past 100,000 executions. */
const CALLS_PER_JUMP = 50;

export interface StepPage extends Page<StepExecution> {
  /** Duration of the search. */
  readonly tookMs: number;
}

interface PageRequest {
  readonly client: StepwrightClient;
  readonly workflowId: string;
  readonly filter: StepFilter;
  readonly cursor: string | undefined;
  readonly signal: AbortSignal;
}

/** The server may return a page with few matches, or none, although there are more. */
export async function readStepPage(request: PageRequest): Promise<StepPage> {
  const { client, workflowId, filter, signal } = request;
  const startMs = performance.now();
  const callsMax = filter.turn === undefined ? CALLS_PER_PAGE : CALLS_PER_JUMP;
  const items: StepExecution[] = [];
  let cursor: string | null | undefined = request.cursor;
  for (let calls = 0; calls < callsMax && items.length < PAGE_SIZE; calls += 1) {
    const options = { ...filter, limit: PAGE_SIZE - items.length, signal };
    const list = client.workflows.steps(workflowId, options);
    const page: Page<StepExecution> = await list.page(cursor ?? undefined);
    items.push(...page.items);
    cursor = page.nextCursor;
    if (cursor === null) break;
  }
  return { items, nextCursor: cursor ?? null, tookMs: performance.now() - startMs };
}
