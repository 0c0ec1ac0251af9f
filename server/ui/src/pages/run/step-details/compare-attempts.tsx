import type { StepExecution } from '@stepwright/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useSession } from '../../../app/session.js';
import { Button } from '../../../components/button.js';
import { exactTime } from '../../../components/zone-choice.js';
import { Loading } from '../../../components/loading.js';
import { ProblemView } from '../../../components/problem-view.js';
import { durationText } from '../../../components/time-ago.js';
import { TextChanges } from '../../../editor/text-changes.js';
import {
  attemptText,
  differingParts,
  isLeftOut,
  PARTS,
  readAttempts,
  startedAttempts,
  type Attempts,
} from './attempts.js';
import './step-details.css';

interface CompareAttemptsProps {
  readonly workflowId: string;
  readonly execution: StepExecution;
}

/** A button for an execution with several attempts, and below it two of them side by side. */
export function CompareAttempts(props: CompareAttemptsProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  if (startedAttempts(props.execution) < 2) return null;
  return (
    <div className="compare-attempts">
      <Button isSmall onPress={() => setOpen(!isOpen)}>
        {isOpen ? 'Hide the comparison' : 'Compare attempts'}
      </Button>
      {isOpen && <Comparison {...props} />}
    </div>
  );
}

function Comparison({ workflowId, execution }: CompareAttemptsProps): ReactNode {
  const { client } = useSession();
  const { executionId } = execution;
  const attempts = useQuery({
    queryKey: ['run', workflowId, 'attempts', executionId],
    queryFn: ({ signal }) => readAttempts(client, workflowId, execution, signal),
  });
  if (attempts.data === undefined) {
    return attempts.error === null ? <Loading /> : <ProblemView error={attempts.error} />;
  }
  return (
    <>
      {attempts.error !== null && <ProblemView error={attempts.error} />}
      <Pair attempts={attempts.data} newest={startedAttempts(execution)} />
    </>
  );
}

/** Two attempts: at first this one and the one before it. */
function Pair({
  attempts: { items, isCut },
  newest,
}: {
  readonly attempts: Attempts;
  readonly newest: number;
}): ReactNode {
  const [chosen, choose] = useState({ left: newest - 1, right: newest });
  const left = items.find(({ attempt }) => attempt === chosen.left);
  const right = items.find(({ attempt }) => attempt === chosen.right);
  const numbers = items.map(({ attempt }) => attempt);
  return (
    <section aria-label="Comparison of attempts">
      {numbers.length > 2 && (
        <p className="attempt-choice">
          <AttemptChoice
            label="Attempt on the left"
            {...{ numbers, value: chosen.left }}
            onChange={(next) => choose({ ...chosen, left: next })}
          />
          <AttemptChoice
            label="Attempt on the right"
            {...{ numbers, value: chosen.right }}
            onChange={(next) => choose({ ...chosen, right: next })}
          />
        </p>
      )}
      {isCut && (
        <p className="hint">
          The first attempts ended so long ago that the page did not search for them.
        </p>
      )}
      {left === undefined || right === undefined ? (
        <p className="hint">The run has no record of both attempts.</p>
      ) : (
        <Differences left={left} right={right} />
      )}
    </section>
  );
}

function AttemptChoice({
  label,
  numbers,
  value,
  onChange,
}: {
  readonly label: string;
  readonly numbers: readonly number[];
  readonly value: number;
  readonly onChange: (attempt: number) => void;
}): ReactNode {
  return (
    <label className="inline-field">
      <span>{label}</span>
      <select value={value} onChange={({ target }) => onChange(Number(target.value))}>
        {numbers.map((attempt) => (
          <option key={attempt} value={attempt}>
            {attempt}
          </option>
        ))}
      </select>
    </label>
  );
}

const PART_LABELS = { inputs: 'Inputs', outputs: 'Outputs', error: 'Error' } as const;

function Differences({
  left,
  right,
}: {
  readonly left: StepExecution;
  readonly right: StepExecution;
}): ReactNode {
  const differing = new Set(differingParts(left, right));
  const rows = [
    ['Status', left.status, right.status],
    ['Started', exactTime(left.startTime), exactTime(right.startTime)],
    ['Ended', endText(left), endText(right)],
    ['Duration', tookText(left), tookText(right)],
  ] as const;
  return (
    <>
      <table className="attempt-facts">
        <thead>
          <tr>
            <th scope="col">
              <span className="visually-hidden">Part</span>
            </th>
            <th scope="col">Attempt {left.attempt}</th>
            <th scope="col">Attempt {right.attempt}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([label, before, after]) => (
            <tr key={label} className={before === after ? undefined : 'differs'}>
              <th scope="row">{label}</th>
              <td>{before}</td>
              <td>{after}</td>
            </tr>
          ))}
          {PARTS.map((part) => (
            <tr key={part} className={differing.has(part) ? 'differs' : undefined}>
              <th scope="row">{PART_LABELS[part]}</th>
              <td colSpan={2}>{differing.has(part) ? 'different, see below' : 'the same'}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {differing.size > 0 && (
        <TextChanges
          label={`Attempts ${left.attempt} and ${right.attempt}`}
          language="json"
          before={attemptText(left)}
          after={attemptText(right)}
        />
      )}
      <NotKept attempts={[left, right]} />
    </>
  );
}

/** Null does not mean that the outputs were empty. */
function NotKept({ attempts }: { readonly attempts: readonly StepExecution[] }): ReactNode {
  const open = attempts.find(({ endTime }) => endTime === null);
  const isCut = attempts.some(({ inputs, outputs }) => isLeftOut(inputs) || isLeftOut(outputs));
  const hasFailed = attempts.some(({ status }) => status === 'Failed');
  return (
    <>
      {open !== undefined && (
        <p className="hint">Attempt {open.attempt} has not ended: it has no outputs yet.</p>
      )}
      {isCut && (
        <p className="hint">
          Values of more than about 4 kB are not kept: <code>truncated</code> stands for them, so
          they cannot be compared.
        </p>
      )}
      {hasFailed && (
        <p className="hint">
          A failed attempt changes no data, so the run keeps its inputs and its error, but no
          outputs.
        </p>
      )}
    </>
  );
}

function endText({ endTime }: StepExecution): string {
  return endTime === null ? 'not yet' : exactTime(endTime);
}

function tookText({ startTime, endTime }: StepExecution): string {
  return endTime === null ? '–' : durationText(Date.parse(endTime) - Date.parse(startTime));
}
