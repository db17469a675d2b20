export { HEADERS } from '@perennial/wire';
