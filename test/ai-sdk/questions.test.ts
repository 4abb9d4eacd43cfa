import { newest } from './consumers.ts';
import { testQuestions } from './questions.ts';

testQuestions(newest);
