import { older } from './consumers.ts';
import { testQuestions } from './questions.ts';

testQuestions(older);
