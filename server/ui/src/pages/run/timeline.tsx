import type { StepExecution, Workflow } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { Button } from '../../components/button.js';
import { durationText, useNow } from '../../components/time-ago.js';
import { CUT_WORDS, type Executions } from './use-run.js';

const BARS_SHOWN = 100;

/** The start and duration of each execution on one scale. If there are many, only the newest are shown at first. */
export function Timeline({
  run,
  executions,
  onSelect,
}: {
  readonly run: Workflow;
  readonly executions: Executions;
  readonly onSelect: (stepId: string) => void;
}): ReactNode {
  const nowMs = useNow();
  const [shown, setShown] = useState(BARS_SHOWN);
  const beginMs = Date.parse(run.startTime);
  const endMs = Math.max(run.endTime === null ? nowMs : Date.parse(run.endTime), beginMs + 1);
  const items = [...executions.items].sort((a, b) => (a.startTime < b.startTime ? -1 : 1));
  if (items.length === 0) return <p className="hint">No step has run yet.</p>;
  return (
    <div className="timeline panel">
      <div className="timeline-scale quiet" aria-hidden="true">
        <span>0</span>
        <span>{durationText((endMs - beginMs) / 2)}</span>
        <span>{durationText(endMs - beginMs)}</span>
      </div>
      {executions.isCut && <p className="hint">Only {CUT_WORDS} are shown.</p>}
      {items.length > shown && (
        <Button isSmall onPress={() => setShown(shown + BARS_SHOWN)}>
          Show earlier executions ({items.length - shown})
        </Button>
      )}
      <ul>
        {items.slice(-shown).map((execution) => (
          <li key={`${execution.executionId}/${execution.attempt}`}>
            <Bar {...{ execution, beginMs, endMs, onSelect }} />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface BarProps {
  readonly execution: StepExecution;
  readonly beginMs: number;
  readonly endMs: number;
  readonly onSelect: (stepId: string) => void;
}

function Bar({ execution, beginMs, endMs, onSelect }: BarProps): ReactNode {
  const { stepId, name, status, index, startTime, endTime, attempt } = execution;
  const fromMs = clamp(Date.parse(startTime), beginMs, endMs);
  const toMs = clamp(endTime === null ? endMs : Date.parse(endTime), fromMs, endMs);
  const percent = (ms: number): string => `${((ms - beginMs) / (endMs - beginMs)) * 100}%`;
  const took = durationText(toMs - fromMs);
  return (
    <button
      type="button"
      className="timeline-row"
      title={`${name ?? stepId}: ${status}, ${took}`}
      onClick={() => onSelect(stepId)}
    >
      <span className="timeline-name">
        <bdi>{name ?? stepId}</bdi>
        {index !== null && <span className="quiet"> {index}</span>}
        {attempt > 1 && <span className="quiet"> attempt {attempt}</span>}
      </span>
      <span className="timeline-track" aria-hidden="true">
        <span
          className={`timeline-bar ${status.toLowerCase()}`}
          style={{
            insetInlineStart: percent(fromMs),
            width: `max(3px, calc(${percent(toMs)} - ${percent(fromMs)}))`,
          }}
        />
      </span>
      <span className="timeline-took">
        <span className="visually-hidden">{status}, </span>
        {took}
      </span>
    </button>
  );
}

function clamp(ms: number, fromMs: number, toMs: number): number {
  return Math.min(Math.max(ms, fromMs), toMs);
}
