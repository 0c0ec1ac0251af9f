/** The steps of a definition as nested lists: the graph in words. */
import type { ReactNode } from 'react';
import type { RunCounts, StepMarks } from './graph-context.js';
import { runsInWords, stateInWords, toneOf, type StepLiveStates } from './live-states.js';
import type { GraphDefinition, GraphStep } from './read-definition.js';
import { StepIcon } from './step-icon.js';
import type { TakenPath } from './taken-path.js';
import './outline.css';

interface OutlineProps {
  readonly states?: StepLiveStates;
  readonly marks?: StepMarks;
  readonly runCounts?: RunCounts;
  readonly path?: TakenPath | undefined;
  readonly selectedStepId?: string | null;
  readonly onSelectStep?: (stepId: string) => void;
}

export function StepOutline(
  props: OutlineProps & { readonly definition: GraphDefinition },
): ReactNode {
  return (
    <div className="outline">
      <Steps {...props} steps={props.definition.steps} />
    </div>
  );
}

function Steps(props: OutlineProps & { readonly steps: readonly GraphStep[] }): ReactNode {
  const { steps, ...rest } = props;
  return (
    <ol>
      {steps.map((step) => (
        <li key={step.pointer}>
          <Step {...rest} step={step} />
        </li>
      ))}
    </ol>
  );
}

function Step(props: OutlineProps & { readonly step: GraphStep }): ReactNode {
  const { step, ...rest } = props;
  const { states, marks, selectedStepId, onSelectStep, path, runCounts } = rest;
  const runs = runCounts?.get(step.id) ?? 0;
  const mark = marks?.get(step.id);
  const state = states?.get(step.id);
  const isUnreached = path !== undefined && state === undefined;
  const words = isUnreached ? 'not reached' : stateInWords(state);
  const heading = (
    <>
      <StepIcon type={step.type} />
      <bdi className="graph-title">{step.name ?? step.id}</bdi>
      <span className="hint">
        {step.type}
        {step.isSaga && ' (saga)'} <bdi>{step.detail}</bdi>
      </span>
    </>
  );
  return (
    <>
      <div className={`outline-step tone-${toneOf(state)}${isUnreached ? ' unreached' : ''}`}>
        {onSelectStep === undefined ? (
          <span className="outline-name">{heading}</span>
        ) : (
          <button
            type="button"
            className="outline-name"
            aria-pressed={selectedStepId === step.id}
            onClick={() => onSelectStep(step.id)}
          >
            {heading}
          </button>
        )}
        {mark !== undefined && <span className="badge strong">{mark}</span>}
        {words !== '' && <span className="outline-state">{words}</span>}
        {runs > 0 && <span className="outline-state">{runsInWords(runs)}</span>}
        <Follows step={step} />
      </div>
      {step.sequences.map((sequence, index) => (
        <div key={index} className="outline-inside">
          <span className="hint">
            {step.sequences.length > 1 ? `inside, branch ${index + 1}` : 'inside'}
          </span>
          <Steps {...rest} steps={sequence} />
        </div>
      ))}
      {step.undo.length > 0 && (
        <div className="outline-inside">
          <span className="hint">compensated by</span>
          <Steps {...rest} steps={step.undo} />
        </div>
      )}
    </>
  );
}

function Follows({ step }: { readonly step: GraphStep }): ReactNode {
  const { nextStepId, choices } = step;
  if (nextStepId === null && choices.length === 0) return null;
  return (
    <span className="hint outline-follows">
      {nextStepId !== null && (
        <span>
          then <bdi>{nextStepId}</bdi>
        </span>
      )}
      {choices.map(({ stepId, condition }) => (
        <span key={stepId}>
          to <bdi>{stepId}</bdi> if <code>{condition}</code>
        </span>
      ))}
    </span>
  );
}
