import type { Page, WorkflowSummary } from '@stepwright/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useId, useRef, useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { problemText } from '../../components/problem-view.js';
import { useLatestDefinition } from '../definitions/use-definition.js';
import { findText, searchOlder, type Found, type TextSearch, type Way } from './find-text.js';
import { FoundRuns } from './found-runs.js';
import { runsPath, WITH_CHILDREN, type RunFilter } from './run-filter.js';
import { readSearch, searchText, type MalformedPart, type SearchPart } from './search-text.js';
import { SuggestInput } from './suggest-input.js';
import { knownFields, suggest } from './suggestions.js';
import { runsKey } from './use-runs.js';

/**
 * Finds a run by id and opens it, lists the runs of a definition or reference, including children, shows the runs with the
 * text in a tag, an index field or a part of any of these, and filters by conditions on tags and index fields, which stay in the box.
 */
export function SearchBox({ filter }: { readonly filter: RunFilter }): ReactNode {
  const answerId = useId();
  const known = useKnownFields(filter);
  const { text, answer, found, malformed, isBusy, write, search, searchOn } = useSearchText(filter);
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
      {found !== null && (
        <FoundRuns found={found} isBusy={isBusy} onContinue={() => void searchOn()} />
      )}
    </form>
  );
}

/** The text in the box, and the result of the last search. */
function useSearchText(filter: RunFilter) {
  const [, navigate] = useLocation();
  const [text, setText] = useState(filter.where);
  const [appliedWhere, setAppliedWhere] = useState(filter.where);
  const [malformed, setMalformed] = useState<MalformedPart | null>(null);
  const { answer, found, isBusy, run, stop } = useTextSearch();
  // The filter was changed elsewhere, for example by a preset.
  if (appliedWhere !== filter.where) {
    setAppliedWhere(filter.where);
    setText(filter.where);
  }

  const open = (place: Found, where: string): void => {
    if (place.kind === 'run') navigate(toPath('runs', place.id));
    else if (place.kind !== 'runs') {
      setText(where);
      const member =
        place.kind === 'definition' ? { definitionId: place.id } : { reference: place.text };
      navigate(runsPath({ ...member, where, parent: WITH_CHILDREN }));
    }
  };
  const search = async (): Promise<void> => {
    stop();
    const { words, where, problem } = readRequest(text);
    setMalformed(problem);
    if (problem !== null) return;
    if (words === '') {
      navigate(runsPath({ ...filter, where }));
      return;
    }
    await run(async (way) => {
      const place = await findText(way, words);
      if (!way.signal.aborted) open(place, where);
      return place.kind === 'runs' ? place.search : null;
    });
  };
  const searchOn = async (): Promise<void> => {
    if (found !== null) await run((way) => searchOlder(way, found));
  };
  const write = (next: string): void => {
    stop();
    setText(next);
    setMalformed(null);
  };
  return { text, answer, found, malformed, isBusy, write, search, searchOn };
}

/** The search in progress, which ends when another one begins or the user types. */
function useTextSearch() {
  const { client, noticeFailure } = useSession();
  const [answer, setAnswer] = useState('');
  const [found, setFound] = useState<TextSearch | null>(null);
  const [isBusy, setBusy] = useState(false);
  const underWay = useRef<AbortController | null>(null);
  useEffect(() => () => underWay.current?.abort(), []);

  const stop = (): void => {
    underWay.current?.abort();
    underWay.current = null;
    setBusy(false);
    setAnswer('');
    setFound(null);
  };
  const run = async (work: (way: Way) => Promise<TextSearch | null>): Promise<void> => {
    const abort = new AbortController();
    underWay.current = abort;
    setBusy(true);
    const show = (search: TextSearch): void => {
      if (abort.signal.aborted) return;
      // Without runs, there is something to show only if the search can continue.
      const isShown = search.items.length > 0 || search.nextCursor !== null;
      setFound(isShown ? search : null);
      setAnswer(answerOf(search));
    };
    try {
      const search = await work({ client, signal: abort.signal, onPiece: show });
      if (search !== null) show(search);
    } catch (error) {
      if (abort.signal.aborted) return;
      noticeFailure(error);
      setAnswer(problemText(error));
    }
    if (!abort.signal.aborted) setBusy(false);
  };
  return { answer, found, isBusy, run, stop };
}

function answerOf({ items, nextCursor }: TextSearch): string {
  if (nextCursor !== null) return `${items.length} found so far`;
  return items.length === 0 ? NOTHING_FOUND : `${items.length} found`;
}

const NOTHING_FOUND = 'No runs were found for this text, and no definition has this id.';

/** The text with its malformed part marked, and the problem. */
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

/** Words after a condition that also follows words: only one id or reference can be looked up. */
function secondWords(parts: readonly SearchPart[]): MalformedPart | null {
  const start = parts.findIndex(({ kind }) => kind === 'word');
  const end = parts.findIndex(({ kind }, at) => at > start && kind !== 'word');
  const second = parts.find(({ kind }, at) => end !== -1 && at > end && kind === 'word');
  if (start === -1 || second === undefined) return null;
  const { from, to } = second;
  return { kind: 'malformed', from, to, message: 'Write an id or a reference in one place only.' };
}

/** The names declared by the filter's definition, and the names in the loaded runs. */
function useKnownFields(filter: RunFilter): ReturnType<typeof knownFields> {
  const queries = useQueryClient();
  // The columns of the list read it, if there are runs of it.
  const definition = useLatestDefinition(filter.definitionId, false);
  const pages = queries.getQueriesData<Page<WorkflowSummary>>({
    queryKey: runsKey(filter),
  });
  return knownFields(
    definition.data ?? {},
    pages.flatMap(([, page]) => page?.items ?? []),
  );
}
