/**
 * Test coverage as a single HTML page without scripts: a colored graph of each definition. Steps are boxes in path order,
 * containers surround their sequences, and arrows name their target step.
 */
import type { StepDefinition, WorkflowDefinition } from '../../engine/model/definition.js';
import {
  percentOf,
  totalsOfAll,
  type ConditionCoverage,
  type DefinitionCoverage,
  type StepCoverage,
} from '../../test-kit/files/coverage.js';
import { totalsText } from './coverage.js';
import { markup } from './markup.js';

const STYLE = `
:root { color-scheme: light dark; font: 14px/1.4 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
.path { display: flex; flex-direction: column; gap: .5rem; align-items: flex-start; }
.sequences { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: .5rem; }
.sequences > .path { border: 1px dashed #8888; border-radius: 6px; padding: .5rem; }
.step { border: 2px solid; border-radius: 6px; padding: .4rem .7rem; }
.step:target { outline: 3px solid #3b82f6; }
.full { border-color: #15803d; background: #15803d22; }
.part { border-color: #b45309; background: #b4530922; }
.none { border-color: #b91c1c; background: #b91c1c22; }
.type, .count { opacity: .75; }
.conditions { list-style: none; margin: .25rem 0 0; padding: 0; }
.yes { color: #15803d; }
.no { color: #b91c1c; font-weight: bold; }
code { overflow-wrap: anywhere; }
`;

export function coverageHtmlOf(coverage: readonly DefinitionCoverage[]): string {
  const totals = totalsOfAll(coverage);
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Test coverage</title>
<style>${STYLE}</style></head>
<body>
<h1>Test coverage: ${percentOf(totals)} %</h1>
<p>${totalsText(totals)}. Green: covered. Orange: a condition had only one value. Red: not run.</p>
${coverage.map((each, index) => definitionHtml(each, index)).join('\n')}
</body>
</html>
`;
}

function definitionHtml(coverage: DefinitionCoverage, index: number): string {
  const { definition, path, totals } = coverage;
  const drawing = new Drawing(coverage, `d${index}-`);
  return `<section>
<h2>${markup(definition.id)}: ${percentOf(totals)} %</h2>
<p>${markup(path)}: ${totalsText(totals)}</p>
${drawing.path(definition.entryStepId)}
</section>`;
}

class Drawing {
  readonly #definition: WorkflowDefinition;
  readonly #steps: ReadonlyMap<string, StepCoverage>;
  readonly #prefix: string;
  readonly #drawn = new Set<string>();

  constructor({ definition, steps }: DefinitionCoverage, prefix: string) {
    this.#definition = definition;
    this.#steps = new Map(steps.map((each) => [each.step.id, each]));
    this.#prefix = prefix;
  }

  /** The steps of a path, each listed once, because paths may contain loops. */
  path(entryStepId: string): string {
    const found: StepDefinition[] = [];
    const waiting = [entryStepId];
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      const step = this.#definition.steps.get(id);
      if (step === undefined || this.#drawn.has(id)) continue;
      this.#drawn.add(id);
      found.push(step);
      const selected = step.selectNextStep.map(({ stepId }) => stepId);
      waiting.push(...[step.nextStepId ?? [], ...selected].flat().reverse());
    }
    return `<div class="path">${found.map((step) => this.#step(step)).join('\n')}</div>`;
  }

  #step(step: StepDefinition): string {
    const { compensateWith, id, nextStepId, typeName } = step;
    const coverage = this.#steps.get(id);
    const executions = coverage?.executions ?? 0;
    const conditions = coverage?.conditions ?? [];
    const always = nextStepId === null ? '' : `<div>→ ${this.#link(nextStepId)}</div>`;
    const undo =
      compensateWith === null
        ? ''
        : `<div class="sequences">undone by ${this.path(compensateWith)}</div>`;
    const inside = step.do.map((entry) => this.path(entry)).join('\n');
    const sequences = inside === '' ? '' : `<div class="sequences">${inside}</div>`;
    return `<div class="step ${stateOf(executions, conditions)}" id="${markup(this.#prefix + id)}">
<strong>${markup(id)}</strong> <span class="type">${markup(typeName)}</span> <span class="count">× ${executions}</span>
${this.#conditions(conditions)}${always}${sequences}${undo}</div>`;
  }

  #conditions(conditions: readonly ConditionCoverage[]): string {
    if (conditions.length === 0) return '';
    const items = conditions.map(({ member, seen, source, target }) => {
      const where = target === null ? markup(member) : `→ ${this.#link(target)} if`;
      return `<li>${where} <code>${markup(source)}</code>: ${value('true', seen.true)}, ${value('false', seen.false)}</li>`;
    });
    return `<ul class="conditions">${items.join('\n')}</ul>`;
  }

  #link(stepId: string): string {
    const target = markup(encodeURIComponent(this.#prefix + stepId));
    return `<a href="#${target}">${markup(stepId)}</a>`;
  }
}

function stateOf(executions: number, conditions: readonly ConditionCoverage[]): string {
  if (executions === 0) return 'none';
  return conditions.every(({ seen }) => seen.true > 0 && seen.false > 0) ? 'full' : 'part';
}

function value(name: string, count: number): string {
  return `<span class="${count > 0 ? 'yes' : 'no'}">${name} × ${count}</span>`;
}
