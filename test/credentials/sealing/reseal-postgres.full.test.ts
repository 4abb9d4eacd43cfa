import { testReseal } from './resealing.ts';

testReseal('postgres');
