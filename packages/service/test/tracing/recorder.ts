import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import {
  type Context,
  type ContextManager,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';

export interface RecordedSpan {
  readonly name: string;
  readonly kind: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly attributes: Record<string, unknown>;
  hasFailed: boolean;
  hasEnded: boolean;
}

/** Installs a minimal tracing SDK. It keeps spans in memory, and it keeps the context across promises and callbacks. */
export function recordSpans(): RecordedSpan[] {
  const spans: RecordedSpan[] = [];
  const tracer: Tracer = {
    startSpan: (name, options, parent) => newSpan(spans, name, options, parent ?? context.active()),
    startActiveSpan() {
      throw new Error('not used');
    },
  };
  trace.setGlobalTracerProvider({ getTracer: () => tracer });
  context.setGlobalContextManager(storedContext());
  return spans;
}

export function stopRecording(): void {
  trace.disable();
  context.disable();
}

function newSpan(spans: RecordedSpan[], name: string, options: SpanOptions = {}, parent: Context): Span {
  const above = trace.getSpanContext(parent);
  const recorded: RecordedSpan = {
    name,
    kind: SpanKind[options.kind ?? SpanKind.INTERNAL] ?? '',
    traceId: above?.traceId ?? randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    parentId: above?.spanId,
    attributes: { ...options.attributes },
    hasFailed: false,
    hasEnded: false,
  };
  spans.push(recorded);
  const span: Span = {
    spanContext: () => ({ traceId: recorded.traceId, spanId: recorded.spanId, traceFlags: 1 }),
    setAttribute(key, value) {
      recorded.attributes[key] = value;
      return span;
    },
    setAttributes(attributes) {
      Object.assign(recorded.attributes, attributes);
      return span;
    },
    setStatus({ code }) {
      recorded.hasFailed = code === SpanStatusCode.ERROR;
      return span;
    },
    end() {
      recorded.hasEnded = true;
    },
    addEvent: () => span,
    addLink: () => span,
    addLinks: () => span,
    updateName: () => span,
    isRecording: () => true,
    recordException: () => undefined,
  };
  return span;
}

function storedContext(): ContextManager {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (at, work, self, ...args) => storage.run(at, () => work.apply(self as never, args as never)),
    bind: (_at, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}
