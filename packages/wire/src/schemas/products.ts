import { periodTypes, settlementModes } from '../enums.js';
import { Cents, CycleNo, Enum, OutText, PagingRequest, pageFields } from './common.js';
import { type Static, Type } from './type.js';

export const ProductsListRequest = PagingRequest;
export type ProductsListRequest = Static<typeof ProductsListRequest>;

export const ProductBenefit = Type.Object({
  benefitCode: OutText,
  name: OutText,
  faceValueCent: Cents,
});
export type ProductBenefit = Static<typeof ProductBenefit>;

export const Product = Type.Object({
  productCode: OutText,
  productName: OutText,
  settlementModes: Type.Array(Enum(settlementModes)),
  periodType: Enum(periodTypes),
  period: Type.Integer({ minimum: 1 }),
  totalCycles: CycleNo,
  amountCent: Cents,
  benefits: Type.Array(ProductBenefit),
});
export type Product = Static<typeof Product>;

export const ProductsListData = Type.Object({ items: Type.Array(Product), ...pageFields });
export type ProductsListData = Static<typeof ProductsListData>;
