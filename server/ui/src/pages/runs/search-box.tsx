import type {
  FoundWorkflow,
  Page,
  WorkflowFindings,
  WorkflowMatch,
  WorkflowSummary,
} from '@stepwright/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useId, useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { toPath } from '../../app/path.js';
import { useSession, type Session } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { problemText } from '../../components/problem-view.js';
import { useLatestDefinition } from '../definitions/use-definition.js';
import { FoundRuns } from './found-runs.js';
import { runsPath, WITH_CHILDREN, type RunFilter } from './run-filter.js';
import { readSearch, searchText, type MalformedPart, type SearchPart } from './search-text.js';
import { SuggestInput } from './suggest-input.js';
import { knownFields, suggest } from './suggestions.js';
import { runsKey } from './use-runs.js';

type Found =
  | { readonly kind: 'run'; readonly id: string }
  | { readonly kind: 'definition'; readonly id: string }
  | { readonly kind: 'reference'; readonly text: string }
  | { readonly kind: 'runs'; readonly findings: WorkflowFindings }
  | { readonly kind: 'nothing' };

/**
 * Finds a run by id and opens it, lists the runs of a definition or reference, including children, shows the runs with the
 * text in a tag, an index field or a part of any of these, and filters by conditions on tags and index fields, which stay in the box.
 */
export function SearchBox({ filter }: { readonly filter: RunFilter }): ReactNode {
  const answerId = useId();
  const known = useKnownFields(filter);
  const { text, answer, findings, malformed, isBusy, write, search } = useSearchText(filter);
  return (
    <form
      role="search"
      className="search-box"
      onSubmit={(event) => {
        event.preventDefault();
        void search();
      }}
    >
      <SuggestInput
        label="Find runs by id, reference, definition or condition"
        placeholder="Run id, reference, definition, or a condition such as total>=100 or tag.env=prod"
        value={text}
        onChange={write}
        suggest={(written, caret) => suggest(written, caret, known)}
        selected={malformed}
        isInvalid={malformed !== null}
        describedBy={answerId}
      />
      <Button type="submit" isDisabled={isBusy}>
        Find
      </Button>
      <span className="search-answer" role="status" id={answerId}>
        {malformed === null ? answer : <Malformed text={text} part={malformed} />}
      </span>
      {findings !== null && <FoundRuns findings={findings} />}
    </form>
  );
}

/** The text of the box, and what came of the last search. */
function useSearchText(filter: RunFilter) {
  const session = useSession();
  const [, navigate] = useLocation();
  const [text, setText] = useState(filter.where);
  const [appliedWhere, setAppliedWhere] = useState(filter.where);
  const [answer, setAnswer] = useState('');
  const [findings, setFindings] = useState<WorkflowFindings | null>(null);
  const [malformed, setMalformed] = useState<MalformedPart | null>(null);
  const [isBusy, setBusy] = useState(false);
  // The filter was changed elsewhere, for example by a preset.
  if (appliedWhere !== filter.where) {
    setAppliedWhere(filter.where);
    setText(filter.where);
  }

  const open = (found: Found, where: string): void => {
    if (found.kind === 'run') navigate(toPath('runs', found.id));
    else if (found.kind === 'nothing') setAnswer(NOTHING_FOUND);
    else if (found.kind === 'runs') {
      setFindings(found.findings);
      setAnswer(`${found.findings.items.length} found`);
    } else {
      setText(where);
      const member =
        found.kind === 'definition' ? { definitionId: found.id } : { reference: found.text };
      navigate(runsPath({ ...member, where, parent: WITH_CHILDREN }));
    }
  };
  const search = async (): Promise<void> => {
    setAnswer('');
    setFindings(null);
    const { words, where, problem } = readRequest(text);
    setMalformed(problem);
    if (problem !== null) return;
    if (words === '') {
      navigate(runsPath({ ...filter, where }));
      return;
    }
    setBusy(true);
    try {
      open(await find(session, words), where);
    } catch (error) {
      session.noticeFailure(error);
      setAnswer(problemText(error));
    } finally {
      setBusy(false);
    }
  };
  const write = (next: string): void => {
    setText(next);
    setAnswer('');
    setFindings(null);
    setMalformed(null);
  };
  return { text, answer, findings, malformed, isBusy, write, search };
}

const NOTHING_FOUND = 'No run was found by this text, and no definition has this id.';

/** The text with its malformed part marked, and what is wrong with it. */
export function Malformed({
  text,
  part: { from, to, message },
}: {
  readonly text: string;
  readonly part: MalformedPart;
}): ReactNode {
  return (
    <>
      <code className="malformed">
        <bdi>
          {text.slice(0, from)}
          <mark>{text.slice(from, to)}</mark>
          {text.slice(to)}
        </bdi>
      </code>{' '}
      <bdi>{message}</bdi>
    </>
  );
}

interface Request {
  /** An id or a reference; empty if there are only conditions. */
  readonly words: string;
  /** The conditions in the form of the box. */
  readonly where: string;
  readonly problem: MalformedPart | null;
}

function readRequest(text: string): Request {
  const parts = readSearch(text);
  const conditions = parts.filter((part) => part.kind === 'condition');
  const where = searchText(conditions.map(({ condition }) => condition));
  const problem = parts.find((part) => part.kind === 'malformed') ?? secondWords(parts);
  const words = parts.filter((part) => part.kind === 'word');
  const [first, last] = [words[0], words.at(-1)];
  if (first === undefined || last === undefined) return { words: '', where, problem };
  // A reference may contain spaces.
  const written = words.length === 1 ? first.text : text.slice(first.from, last.to);
  return { words: written, where, problem };
}

/** Words after a condition that others precede: only one id or reference can be looked up. */
function secondWords(parts: readonly SearchPart[]): MalformedPart | null {
  const start = parts.findIndex(({ kind }) => kind === 'word');
  const end = parts.findIndex(({ kind }, at) => at > start && kind !== 'word');
  const second = parts.find(({ kind }, at) => end !== -1 && at > end && kind === 'word');
  if (start === -1 || second === undefined) return null;
  const { from, to } = second;
  return { kind: 'malformed', from, to, message: 'Write an id or a reference in one place only.' };
}

/** The names that the definition of the filter declares, and those of the runs that have been loaded. */
function useKnownFields(filter: RunFilter): ReturnType<typeof knownFields> {
  const queries = useQueryClient();
  const definition = useLatestDefinition(filter.definitionId);
  const pages = queries.getQueriesData<Page<WorkflowSummary>>({
    queryKey: runsKey(filter),
  });
  return knownFields(
    definition.data ?? {},
    pages.flatMap(([, page]) => page?.items ?? []),
  );
}

/** If several match, a run takes precedence over a definition, and a definition over a reference. */
async function find({ client }: Session, text: string): Promise<Found> {
  if (text.length > TEXT_LENGTH_MAX) return { kind: 'nothing' };
  const findings = await client.workflows.find(text);
  const { definitionId, items } = findings;
  const equals = (of: WorkflowMatch['of']): FoundWorkflow | undefined =>
    items.find(({ matches }) =>
      matches.some((match) => match.of === of && match.relation === 'equal'),
    );
  const run = equals('id');
  if (run !== undefined) return { kind: 'run', id: run.workflow.workflowId };
  if (definitionId !== null) return { kind: 'definition', id: definitionId };
  const isElsewhere = items.some(({ matches: [closest] }) => closest?.of !== 'reference');
  if (equals('reference') !== undefined && !isElsewhere) return { kind: 'reference', text };
  return items.length === 0 ? { kind: 'nothing' } : { kind: 'runs', findings };
}

/** No id, reference or value is longer. */
const TEXT_LENGTH_MAX = 256;
