export { diagnoseField, type FieldDiagnosis, type FieldSecrets } from './field.js';
export { type Finding, MISTAKES, type Mistake } from './mistakes.js';
export { type Diagnosis, type DiagnosisContext, diagnoseRequest, MAX_DIAGNOSIS_TRIES } from './request.js';
export {
  type EarlierRequest,
  MAX_EARLIER_REQUESTS,
  MAX_SPELLED_BODY_BYTES,
  type ReceivedRequest,
} from './sign-texts.js';
export type { ChannelSecrets } from './signing-keys.js';
