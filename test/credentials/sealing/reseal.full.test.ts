import { testReseal } from './resealing.ts';

testReseal('sqlite');
